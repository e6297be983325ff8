// Precision, recall, loss and missed constraints of confusion counts.

import { metricValue, preferenceArrays } from "./preferences.js";

/** Return the sum of an array. */
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Return what class k adds to the loss. */
export function classLoss(goal, k, hits, predicted) {
  if (goal.share[k] === 0) return 0;
  if (predicted <= 0) return goal.share[k];
  return goal.share[k] * (1 - metricValue(goal.metric, hits / predicted, hits / goal.support[k], goal.weight[k]));
}

/** Return how far a rate is below its minimum; rounding does not count, an undefined rate counts as 0. */
export function shortfall(rate, minimum) {
  const missing = minimum - (rate || 0);
  return missing > 1e-12 * minimum ? missing : 0;
}

/** Return by how much the share predicted exceeds a capacity; rounding does not count. */
export function excess(predicted, rows, most) {
  const over = rows > 0 ? predicted / rows - most : 0;
  return over > 1e-12 * most ? over : 0;
}

/** Compare [shortfall, loss] pairs: a met constraint comes before a lower loss. */
export const better = (a, b, tolerance = 0) =>
  a[0] < b[0] - tolerance || (a[0] <= b[0] + tolerance && a[1] < b[1] - tolerance);

/** Move a row (or its weight) from one predicted class to another. */
export function moveRow(patterns, hits, predicted, row, from, to) {
  const size = patterns.multiplicity[row];
  predicted[from] -= size;
  predicted[to] += size;
  if (patterns.truth[row] === from) hits[from] -= size;
  else if (patterns.truth[row] === to) hits[to] += size;
}

/** Return support, predicted, hits, recall and precision by class; NaN where a rate is undefined. */
export function rates(counts) {
  const support = counts.map(sum);
  const predicted = counts.map((_, k) => sum(counts.map((row) => row[k])));
  const hits = counts.map((row, k) => row[k]);
  const ratio = (totals) => hits.map((number, k) => (totals[k] > 0 ? number / totals[k] : NaN));
  return { support, predicted, hits, rows: sum(support), recall: ratio(support), precision: ratio(predicted) };
}

/** Return the loss (or average cost) of counts under preferences, with what each class adds and which constraints are missed. */
export function lossParts(counts, preferences) {
  const result = rates(counts);
  const goal = preferenceArrays(preferences, result.support);
  const added = goal.cost
    ? counts.map((row, k) => sum(row.map((rows, j) => rows * goal.cost[k][j])) / result.rows)
    : counts.map((_, k) => classLoss(goal, k, result.hits[k], result.predicted[k]));
  const ofPrecision = result.precision.map((rate, k) => shortfall(rate, goal.minPrecision[k]));
  const ofRecall = result.recall.map((rate, k) => shortfall(rate, goal.minRecall[k]));
  const ofShare = result.predicted.map((size, k) => excess(size, result.rows, goal.maxShare[k]));
  return {
    ...result, goal, added, ofPrecision, ofRecall, ofShare,
    total: goal.judged ? sum(added) : NaN, shortfall: sum(ofPrecision) + sum(ofRecall) + sum(ofShare),
  };
}
