// One class against the rest: its rates and the loss as its weight grows and the other weights stay.

import { classLoss, moveRow, sum } from "./loss.js";
import { metricValue, preferenceArrays } from "./preferences.js";
import { sortIndices } from "./order.js";

/**
 * Return every cut of class k's weight: the factor on the present weight at which rows flip to k, the true and false
 * positives of k from there on, and the loss. At the first cut k is predicted only where nothing else has votes.
 */
export function cutsOf(patterns, weights, k, preferences) {
  const { order, flip, row, other, hits, predicted, start } = flipsTo(patterns, weights, k);
  const goal = preferenceArrays(preferences, patterns.support);
  const parts = Array.from(hits, (_, j) => classLoss(goal, j, hits[j], predicted[j]));
  const cuts = { factor: [], hits: [], alarms: [], loss: [] };
  const price = (i, j) => (patterns.multiplicity[i] * goal.cost[patterns.truth[i]][j]) / goal.rows;
  let loss = goal.cost ? start.reduce((total, j, i) => total + price(i, j), 0) : sum(parts);
  const refresh = (j) => {
    if (goal.cost) return;
    const now = classLoss(goal, j, hits[j], predicted[j]);
    loss += now - parts[j];
    parts[j] = now;
  };
  const write = (factor) => {
    cuts.factor.push(factor);
    cuts.hits.push(hits[k]);
    cuts.alarms.push(predicted[k] - hits[k]);
    cuts.loss.push(loss);
  };
  write(0);
  for (let i = 0; i < order.length; ) {
    const factor = flip[order[i]];
    for (; i < order.length && flip[order[i]] <= factor * (1 + 1e-11); i++) {
      moveRow(patterns, hits, predicted, row[order[i]], other[order[i]], k);
      if (goal.cost) loss += price(row[order[i]], k) - price(row[order[i]], other[order[i]]);
      refresh(other[order[i]]);
    }
    refresh(k);
    write(factor);
  }
  const positives = patterns.support[k];
  return { ...cuts, positives, negatives: sum(patterns.support) - positives };
}

function flipsTo(patterns, weights, k) {
  const { classes, rows, rowStart, rowClass, rowValue, truth, multiplicity, classStart } = patterns;
  const most = classStart[k + 1] - classStart[k];
  const flip = new Float64Array(most), row = new Int32Array(most), other = new Int32Array(most);
  const hits = new Float64Array(classes), predicted = new Float64Array(classes), start = new Int32Array(rows);
  let size = 0;
  for (let i = 0; i < rows; i++) {
    let best = -1, score = 0, own = 0;
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const now = weights[rowClass[e]] * rowValue[e];
      if (rowClass[e] === k) own = now;
      else if (now > score) {
        score = now;
        best = rowClass[e];
      }
    }
    const chosen = best < 0 ? k : best;
    start[i] = chosen;
    predicted[chosen] += multiplicity[i];
    if (truth[i] === chosen) hits[chosen] += multiplicity[i];
    if (own > 0 && best >= 0) {
      flip[size] = score / own;
      row[size] = i;
      other[size++] = best;
    }
  }
  return { order: sortIndices(flip, [new Int32Array(size), new Int32Array(size)], size), flip, row, other, hits, predicted, start };
}

const APART = 0.001;

/** Return recall and precision of the cuts that no other cut beats in both; points too near to be seen apart are left out. */
export function frontier(cuts) {
  const best = [];
  let highest = -1;
  for (let i = cuts.hits.length - 1; i >= 0; i--) {
    const precision = cuts.hits[i] / (cuts.hits[i] + cuts.alarms[i]);
    if (!(precision > 0) || precision <= highest) continue;
    highest = precision;
    const point = { recall: cuts.hits[i] / cuts.positives, precision };
    const last = best.at(-1);
    if (!last || last.recall - point.recall + point.precision - last.precision >= APART) best.push(point);
  }
  return best;
}

/** Return the best value of the metric among the points at each of `steps` + 1 recall weights from 0 to 1. */
export function envelope(points, metric, steps = 40) {
  return Array.from({ length: steps + 1 }, (_, step) => {
    let best = 0;
    for (const { precision, recall } of points) best = Math.max(best, metricValue(metric, precision, recall, step / steps));
    return best;
  });
}
