// Compare predictions with constant and random ones. No verdict: the weights are chosen on these very rows.

import { fixed } from "./elements.js";
import { metricValue } from "./preferences.js";
import { lossParts } from "./loss.js";

/** A class as sentences beside numbers name it: text in quotes, anything else said to be a class. */
const quoted = ({ python }) => (/^['"]/.test(python) ? python : `class ${python}`);

const general = (number) => String(Number(number.toPrecision(6)));

/** Return the loss of always predicting class k. */
function constantBaseline({ goal, support, rows }, k, preferences) {
  const fraction = support[k] / rows;
  const value = support[k] > 0 ? metricValue(goal.metric, fraction, 1, goal.weight[k]) : 0;
  const loss = goal.cost ? support.reduce((total, size, j) => total + size * goal.cost[j][k], 0) / rows : 1 - goal.share[k] * value;
  return { loss, name: `always predicting ${preferences.classes[k].python}` };
}

/** Return whether a coin, which predicts each class with a chance, meets every constraint as far as the result does. */
function allowed({ goal, support, rows, precision, recall, predicted }, chances) {
  return chances.every((chance, k) => {
    const share = support[k] / rows, wanted = goal.minPrecision[k];
    const kept = (precision[k] || 0) >= wanted * (1 - 1e-12);
    if (share > 0 && kept && share < wanted * (1 - 1e-12) && chance > 1e-9) return false;
    if (share > 0 && chance < Math.min(recall[k] || 0, goal.minRecall[k]) - 1e-9) return false;
    return chance <= Math.max(predicted[k] / rows, goal.maxShare[k]) + 1e-9;
  });
}

/** Return the best rival without a model: a constant prediction, or random ones at the classes' shares; null where constraints rule all out. */
function bestBaseline(parts, preferences) {
  const { support, rows } = parts;
  const random = lossParts(support.map((a) => support.map((b) => (a * b) / rows)), preferences);
  const baselines = [
    ...support.map((_, k) => ({ ...constantBaseline(parts, k, preferences), chances: support.map((_, j) => Number(j === k)) })),
    { loss: random.total, name: "random predictions at the classes' shares", chances: support.map((size) => size / rows) },
  ];
  return baselines.filter(({ chances }) => allowed(parts, chances)).reduce((a, b) => (a && !(b.loss < a.loss) ? a : b), null);
}

function missedConstraints(parts, preferences) {
  const kinds = [
    ["precision", parts.precision, parts.goal.minPrecision, parts.ofPrecision],
    ["recall", parts.recall, parts.goal.minRecall, parts.ofRecall],
  ];
  const missed = kinds.flatMap(([name, rate, minimum, missing]) => preferences.classes
    .map((one, k) => `the ${name} of ${quoted(one)} is ${fixed(rate[k] || 0, 3)}, below your minimum of ${general(minimum[k])}`)
    .filter((_, k) => missing[k] > 0));
  const over = preferences.classes
    .map((one, k) => `the share predicted of ${quoted(one)} is ${fixed(parts.predicted[k] / parts.rows, 3)}, above your maximum of ${general(parts.goal.maxShare[k])}`)
    .filter((_, k) => parts.ofShare[k] > 0);
  return [...missed, ...over];
}

/** Return whether the loss is below the best baseline's and no constraint is missed, with a sentence: {good, sentence, parts, best}. */
export function compareWithBaselines(counts, preferences) {
  const parts = lossParts(counts, preferences);
  const best = bestBaseline(parts, preferences);
  if (Number.isNaN(parts.total)) return { good: false, sentence: "no class that matters occurs in these rows", parts, best };
  const below = !best || parts.total < best.loss * (1 - 1e-12);
  const beside = best ? `${below ? "below" : "not below"} ${fixed(best.loss, 4)} for ${best.name}` : "and no such prediction without a model meets your constraints as far";
  const missed = missedConstraints(parts, preferences);
  const sentence = `on these rows the ${parts.goal.cost ? "average cost" : "loss"} is ${fixed(parts.total, 4)}, ${beside}`;
  return { good: below && !missed.length, sentence: [sentence, ...missed].join("; "), parts, best };
}
