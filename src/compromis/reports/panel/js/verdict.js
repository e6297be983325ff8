// Compare predictions with model-free baselines; the sentences of compromis.measures.verdict.

import { metricValue } from "./preferences.js";
import { better, excess, lossParts, shortfall, sum } from "./loss.js";

/** Format a number with decimals as Python does: exact ties go to the even digit. */
export function fixed(number, decimals) {
  const text = number.toFixed(decimals);
  const exact = number.toFixed(Math.min(100, decimals + 45));
  const rest = exact.slice(exact.indexOf(".") + 1 + decimals);
  if (!/^50*$/.test(rest)) return text;
  const cut = exact.slice(0, exact.indexOf(".") + 1 + decimals).replace(/\.$/, "");
  return Number(cut.at(-1)) % 2 === 0 ? cut : text;
}

const general = (number) => String(Number(number.toPrecision(6)));

function isClose(a, b, tolerance = 1e-9) {
  return a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}

/** Return loss and shortfall of always predicting class k: the other classes miss their constraints whole. */
function constantBaseline(parts, k, preferences) {
  const { goal, support, rows } = parts;
  const fraction = support[k] / rows;
  const others = sum(support.map((_, j) => (j === k ? 0 : goal.minPrecision[j] + goal.minRecall[j])));
  const own = support[k] > 0 ? shortfall(fraction, goal.minPrecision[k]) : 0;
  const value = support[k] > 0 ? metricValue(goal.metric, fraction, 1, goal.weight[k]) : 0;
  const over = excess(rows, rows, goal.maxShare[k]);
  return { loss: 1 - goal.share[k] * value, shortfall: others + own + over, index: k, name: `always deciding ${preferences.classes[k].python}` };
}

/** Return the best model-free baseline: a constant prediction, or random ones at the classes' shares. */
function bestBaseline(parts, preferences) {
  const { support, rows } = parts;
  const random = lossParts(support.map((a) => support.map((b) => (a * b) / rows)), preferences);
  const baselines = [
    ...support.map((_, k) => constantBaseline(parts, k, preferences)),
    { loss: random.total, shortfall: random.shortfall, index: -1, name: "random decisions at the classes' shares" },
  ];
  return baselines.reduce((a, b) => (better([b.shortfall, b.loss], [a.shortfall, a.loss]) ? b : a));
}

function betterSentence({ total, shortfall: missing }, best) {
  if (missing < best.shortfall) {
    const how = missing === 0
      ? "it meets your minima, which no decision without a model does"
      : "it misses your minima by less than any decision without a model";
    return `informative: ${how} (loss ${fixed(total, 4)})`;
  }
  const gain = best.loss > total && total > 0 ? ` (${fixed((100 * (best.loss - total)) / best.loss, 0)} % lower)` : "";
  const flaw = best.shortfall > 0 ? ", which misses a minimum too" : "";
  return `informative: loss ${fixed(total, 4)}${gain} against ${fixed(best.loss, 4)} for ${best.name}${flaw}, the best decision without a model`;
}

function noBetterSentence(parts, best, preferences) {
  const how = parts.shortfall > best.shortfall || !isClose(parts.total, best.loss) ? "better" : "as well";
  const cause = `uninformative: your preferences are met ${how} by ${best.name} (loss ${fixed(best.loss, 4)}, this result ${fixed(parts.total, 4)})`;
  if (best.index < 0) return `${cause}; improve the model, or review the preferences`;
  if (parts.support.filter((rows) => rows > 0).length === 1) return `${cause}; there is only one class in these rows`;
  const fraction = Math.max(parts.support[best.index] / parts.rows, parts.goal.minPrecision[best.index]);
  const label = preferences.classes[best.index].python;
  const cure = `improve the model, or set min_precision for ${label} above ${fixed(fraction, 3)}, what always deciding it reaches`;
  return `${cause}; ${cure}${preferences.metric === "kulczynski" ? ", or use metric f, which does not reward giving up" : ""}`;
}

function missedConstraints(parts, preferences) {
  const kinds = [
    ["precision", parts.precision, parts.goal.minPrecision, parts.ofPrecision],
    ["recall", parts.recall, parts.goal.minRecall, parts.ofRecall],
  ];
  const missed = kinds.flatMap(([name, rate, minimum, missing]) => preferences.classes
    .map(({ python }, k) => `the ${name} of ${python} is ${fixed(rate[k] || 0, 3)}, below your minimum of ${general(minimum[k])}`)
    .filter((_, k) => missing[k] > 0));
  const over = preferences.classes
    .map(({ python }, k) => `the share predicted of ${python} is ${fixed(parts.predicted[k] / parts.rows, 3)}, above your maximum of ${general(parts.goal.maxShare[k])}`)
    .filter((_, k) => parts.ofShare[k] > 0);
  return [...missed, ...over];
}

/** Return whether counts are better than the best baseline, with a sentence: {informative, sentence, parts, best}. */
export function judge(counts, preferences) {
  const parts = lossParts(counts, preferences);
  const best = bestBaseline(parts, preferences);
  if (Number.isNaN(parts.total)) {
    return { informative: false, sentence: "no class that matters occurs in these rows; there is nothing to judge", parts, best };
  }
  const equal = parts.shortfall === best.shortfall && isClose(parts.total, best.loss, 1e-12);
  const informative = better([parts.shortfall, parts.total], [best.shortfall, best.loss]) && !equal;
  const missed = missedConstraints(parts, preferences);
  const sentence = informative ? betterSentence(parts, best) : noBetterSentence(parts, best, preferences);
  return { informative, sentence: sentence + (missed.length ? `; but ${missed.join(", and ")}` : ""), parts, best };
}
