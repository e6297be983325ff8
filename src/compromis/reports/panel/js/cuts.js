// One class against the rest: what happens to it and to the loss as its weight grows and the others stay.

import { metricValue, layOut } from "./preferences.js";
import { sortPlaces } from "./order.js";

/**
 * Return every cut of class k's weight: the factor on its present weight at which rows flip to it, the class's true and
 * false positives from there on, and the loss; the first cut decides for k only where nothing else has votes.
 */
export function cutsOf(patterns, weights, k, preferences) {
  const rows = flipsTo(patterns, weights, k);
  const goal = layOut(preferences, patterns.support);
  const { hits, predicted } = rows;
  const part = (j) => {
    if (goal.share[j] === 0) return 0;
    if (predicted[j] <= 0) return goal.share[j];
    const value = metricValue(goal.metric, hits[j] / predicted[j], hits[j] / goal.support[j], goal.weight[j]);
    return goal.share[j] * (1 - value);
  };
  const parts = Array.from(patterns.support, (_, j) => part(j));
  let loss = parts.reduce((total, one) => total + one, 0);
  const refresh = (j) => {
    const now = part(j);
    loss += now - parts[j];
    parts[j] = now;
  };
  const cuts = { factor: [0], found: [hits[k]], wrong: [predicted[k] - hits[k]], loss: [loss] };
  const { order, flip, row, other } = rows;
  for (let place = 0; place < order.length; ) {
    const factor = flip[order[place]];
    for (; place < order.length && flip[order[place]] <= factor * (1 + 1e-11); place++) {
      const i = row[order[place]], from = other[order[place]], size = patterns.multiplicity[i];
      predicted[from] -= size;
      predicted[k] += size;
      if (patterns.truth[i] === from) hits[from] -= size;
      else if (patterns.truth[i] === k) hits[k] += size;
      refresh(from);
    }
    refresh(k);
    cuts.factor.push(factor);
    cuts.found.push(hits[k]);
    cuts.wrong.push(predicted[k] - hits[k]);
    cuts.loss.push(loss);
  }
  const positives = patterns.support[k];
  const total = patterns.support.reduce((sum, one) => sum + one, 0);
  return { ...cuts, positives, negatives: total - positives };
}

function flipsTo(patterns, weights, k) {
  const { classes, rows, rowStart, rowClass, rowValue, truth, multiplicity } = patterns;
  const most = patterns.classStart[k + 1] - patterns.classStart[k];
  const flip = new Float64Array(most), row = new Int32Array(most), other = new Int32Array(most);
  let count = 0;
  const hits = new Float64Array(classes), predicted = new Float64Array(classes);
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
    const start = best < 0 ? k : best;
    predicted[start] += multiplicity[i];
    if (truth[i] === start) hits[start] += multiplicity[i];
    if (own > 0 && best >= 0) {
      flip[count] = score / own;
      row[count] = i;
      other[count++] = best;
    }
  }
  const scratch = [new Int32Array(count), new Int32Array(count)];
  return { order: sortPlaces(flip, new Uint32Array(flip.buffer), scratch, count), flip, row, other, hits, predicted };
}

const APART = 0.001;

/** Return recall and precision of the cuts that no other cut beats in both; those too near to be seen apart are left out. */
export function frontier(cuts) {
  const best = [];
  let highest = -1, last = null;
  for (let place = cuts.found.length - 1; place >= 0; place--) {
    const predicted = cuts.found[place] + cuts.wrong[place];
    if (predicted <= 0 || cuts.found[place] <= 0) continue;
    const precision = cuts.found[place] / predicted;
    if (precision <= highest) continue;
    highest = precision;
    const point = { recall: cuts.found[place] / cuts.positives, precision };
    if (last && last.recall - point.recall + point.precision - last.precision < APART) continue;
    best.push(point);
    last = point;
  }
  return best;
}

/** Return the best value of the metric among the cuts at each of `steps` + 1 recall weights from 0 to 1. */
export function envelope(points, metric, steps = 40) {
  return Array.from({ length: steps + 1 }, (_, step) => {
    const weight = step / steps;
    let best = 0;
    for (const { precision, recall } of points) best = Math.max(best, metricValue(metric, precision, recall, weight));
    return [weight, best];
  });
}
