// Numbers of counts: precision, recall, the loss of preferences and what misses its minima.

import { metricValue, layOut } from "./preferences.js";

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** Return support, predicted, hits, recall and precision of each class; NaN where they are undefined. */
export function rates(counts) {
  const support = counts.map(sum);
  const predicted = counts.map((_, k) => sum(counts.map((row) => row[k])));
  const hits = counts.map((row, k) => row[k]);
  return {
    support, predicted, hits, total: sum(support),
    recall: hits.map((one, k) => (support[k] > 0 ? one / support[k] : NaN)),
    precision: hits.map((one, k) => (predicted[k] > 0 ? one / predicted[k] : NaN)),
  };
}

/** Return the loss of counts with its parts: f of each class, what each adds, and what misses the minima. */
export function lossParts(counts, preferences) {
  const found = rates(counts);
  const goal = layOut(preferences, found.support);
  const byClass = counts.map((_, k) => {
    if (found.support[k] === 0) return NaN;
    return found.predicted[k] === 0
      ? 1
      : 1 - metricValue(goal.metric, found.precision[k], found.recall[k], goal.weight[k]);
  });
  const added = byClass.map((one, k) => (goal.share[k] === 0 ? 0 : goal.share[k] * one));
  const missing = (rate, floor) => {
    const short = floor - (Number.isNaN(rate) ? 0 : rate);
    return short > 1e-12 * floor ? short : 0;
  };
  const ofPrecision = found.precision.map((rate, k) => missing(rate, goal.minPrecision[k]));
  const ofRecall = found.recall.map((rate, k) => missing(rate, goal.minRecall[k]));
  return {
    ...found, goal, byClass, added, ofPrecision, ofRecall,
    total: goal.judged ? sum(added) : NaN, rows: found.total, shortfall: sum(ofPrecision) + sum(ofRecall),
  };
}

/** Return the loss of counts under preferences; lower is better. */
export function loss(counts, preferences) {
  return lossParts(counts, preferences).total;
}
