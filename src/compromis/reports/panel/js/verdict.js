// Is a result worth anything? The sentences of compromis.measures.verdict, for decisions made in the page.

import { metricValue } from "./preferences.js";
import { lossParts } from "./loss.js";

/** Write a number with decimals as Python does: exact ties go to the even digit. */
export function fixed(number, decimals) {
  const text = number.toFixed(decimals);
  const exact = number.toFixed(Math.min(100, decimals + 45));
  const rest = exact.slice(exact.indexOf(".") + 1 + decimals);
  if (!/^50*$/.test(rest)) return text;
  const cut = exact.slice(0, exact.indexOf(".") + 1 + decimals).replace(/\.$/, "");
  return Number(cut[cut.length - 1]) % 2 === 0 ? cut : text;
}

const general = (number) => String(Number(number.toPrecision(6)));

function isClose(a, b, tolerance = 1e-9) {
  return a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}

function constantDecision(parts, k) {
  const { goal, support, rows } = parts;
  const share = support[k] / rows;
  let shortfall = 0;
  support.forEach((_, j) => {
    if (j !== k) shortfall += goal.minPrecision[j] + goal.minRecall[j];
  });
  const missing = goal.minPrecision[k] - share;
  if (support[k] > 0 && missing > 1e-12 * goal.minPrecision[k]) shortfall += missing;
  const worth = support[k] > 0 ? metricValue(goal.metric, share, 1, goal.weight[k]) : 0;
  return { loss: 1 - goal.share[k] * worth, shortfall, place: k };
}

/** Return what each constant decision reaches on the same rows, and random ones at the classes' shares. */
export function baselines(parts, preferences) {
  const { support, rows } = parts;
  const constant = support.map((_, k) => ({
    ...constantDecision(parts, k), name: `always deciding ${preferences.classes[k].python}`,
  }));
  const random = lossParts(support.map((one) => support.map((other) => (one * other) / rows)), preferences);
  return [
    ...constant,
    { loss: random.total, shortfall: random.shortfall, place: -1, name: "random decisions at the classes' shares" },
  ];
}

function praise(loss, short, best) {
  if (short < best.shortfall) {
    const how = short === 0
      ? "it meets your minima, which no decision without a model does"
      : "it misses your minima by less than any decision without a model";
    return `informative: ${how} (loss ${fixed(loss, 4)})`;
  }
  const gain = best.loss > loss && loss > 0 ? ` (${fixed((100 * (best.loss - loss)) / best.loss, 0)} % lower)` : "";
  const flaw = best.shortfall > 0 ? ", which misses a minimum too" : "";
  return `informative: loss ${fixed(loss, 4)}${gain} against ${fixed(best.loss, 4)} for ${best.name}${flaw}, the best decision without a model`;
}

function blame(parts, best, preferences) {
  const how = parts.shortfall > best.shortfall || !isClose(parts.total, best.loss) ? "better" : "as well";
  const cause = `uninformative: your preferences are met ${how} by ${best.name} (loss ${fixed(best.loss, 4)}, this result ${fixed(parts.total, 4)})`;
  if (best.place < 0) return `${cause}; improve the model, or review the preferences`;
  if (parts.support.filter((one) => one > 0).length === 1) return `${cause}; there is only one class in these rows`;
  const share = Math.max(parts.support[best.place] / parts.rows, parts.goal.minPrecision[best.place]);
  const label = preferences.classes[best.place].python;
  const cure = `improve the model, or set min_precision for ${label} above ${fixed(share, 3)}, what always deciding it reaches`;
  return `${cause}; ${cure}${preferences.metric === "kulczynski" ? ", or use metric f, which does not reward giving up" : ""}`;
}

function missedMinima(parts, preferences) {
  const sentence = (name, rate, floor, k) =>
    `the ${name} of ${preferences.classes[k].python} is ${fixed(rate[k] || 0, 3)}, below your minimum of ${general(floor[k])}`;
  const all = (name, rate, floor, short) =>
    short.flatMap((one, k) => (one > 0 ? [sentence(name, rate, floor, k)] : []));
  return [
    ...all("precision", parts.precision, parts.goal.minPrecision, parts.ofPrecision),
    ...all("recall", parts.recall, parts.goal.minRecall, parts.ofRecall),
  ];
}

/** Return whether counts are worth anything beside decisions without a model, with cause and cure in words. */
export function judge(counts, preferences) {
  const parts = lossParts(counts, preferences);
  const naive = baselines(parts, preferences);
  const best = naive.reduce((a, b) => (b.shortfall < a.shortfall || (b.shortfall === a.shortfall && b.loss < a.loss) ? b : a));
  if (Number.isNaN(parts.total)) {
    return { informative: false, sentence: "no class that matters occurs in these rows; there is nothing to judge", parts, naive };
  }
  const equal = parts.shortfall === best.shortfall && isClose(parts.total, best.loss, 1e-12);
  const less = parts.shortfall < best.shortfall || (parts.shortfall === best.shortfall && parts.total < best.loss);
  const informative = less && !equal;
  const missed = missedMinima(parts, preferences);
  const but = missed.length ? "; but " + missed.join(", and ") : "";
  return { informative, sentence: (informative ? praise(parts.total, parts.shortfall, best) : blame(parts, best, preferences)) + but, parts, naive };
}
