// Exact line searches: with the other weights fixed, a row flips once from its best other class to k, at
// max_{j != k} w_j v_ij / v_ik. Sort the flips, sweep over them, and put the weight into the middle of the best cell.

import { metricValue } from "./preferences.js";
import { sortPlaces } from "./order.js";

const MERGED = 1 + 1e-11;
const EQUAL = 1e-12;
const TIE = 1 - 1e-9;
const WIDEST = 1e100;

const wins = (score, k, otherScore, other) => score > otherScore || (score === otherScore && k < other);

const better = (a, b) => a[0] < b[0] - EQUAL || (a[0] <= b[0] + EQUAL && a[1] < b[1] - EQUAL);

/** The running state of a search over one set of patterns: the two best scores of each row, and what the decisions add up to. */
export class Descent {
  constructor(patterns) {
    const { rows, classes } = patterns;
    this.patterns = patterns;
    this.entries = 0;
    this.weight = new Float64Array(classes).fill(1);
    this.first = new Int32Array(rows);
    this.second = new Int32Array(rows);
    this.firstScore = new Float64Array(rows);
    this.secondScore = new Float64Array(rows);
    this.hits = new Float64Array(classes);
    this.predicted = new Float64Array(classes);
    this.loss = new Float64Array(classes);
    this.short = new Float64Array(classes);
    this.saved = [0, 1].map(() => [0, 1].map(() => new Float64Array(classes)));
    this.flip = new Float64Array(rows);
    this.bits = new Uint32Array(this.flip.buffer);
    this.flipRow = new Int32Array(rows);
    this.flipOther = new Int32Array(rows);
    this.order = [new Int32Array(rows), new Int32Array(rows)];
    this.cell = { low: new Float64Array(rows + 1), high: new Float64Array(rows + 1), taken: new Int32Array(rows + 1) };
    this.cell.loss = new Float64Array(rows + 1);
    this.cell.short = new Float64Array(rows + 1);
  }

  /** Minimise for this goal (`layOut` of preferences) from now on. */
  aim(goal) {
    this.goal = goal;
    this.tiny = 1e-12 * goal.support.reduce((total, one) => total + one, 0);
  }

  /** Bring the state in line with the weights; ties are broken as the rule does, by factors next to 1. */
  start(weights) {
    const { weight } = this;
    for (let k = 0; k < weight.length; k++) weight[k] = weights[k] * TIE ** k;
    this.prepare();
    return this.value();
  }

  prepare() {
    const { rows, truth, multiplicity } = this.patterns;
    const { first, hits, predicted } = this;
    hits.fill(0);
    predicted.fill(0);
    for (let i = 0; i < rows; i++) {
      this.bestTwo(i);
      const k = first[i];
      if (k < 0) continue;
      predicted[k] += multiplicity[i];
      if (truth[i] === k) hits[k] += multiplicity[i];
    }
    this.refresh();
  }

  bestTwo(i) {
    const { rowStart, rowClass, rowValue } = this.patterns;
    const { weight } = this;
    let first = -1, second = -1, firstScore = 0, secondScore = 0;
    for (let e = rowStart[i], end = rowStart[i + 1]; e < end; e++) {
      const k = rowClass[e];
      const score = weight[k] * rowValue[e];
      if (score > firstScore) {
        second = first;
        secondScore = firstScore;
        first = k;
        firstScore = score;
      } else if (score > secondScore) {
        second = k;
        secondScore = score;
      }
    }
    this.first[i] = first;
    this.second[i] = second;
    this.firstScore[i] = firstScore;
    this.secondScore[i] = secondScore;
  }

  lossOf(k) {
    const { metric, share, weight, support } = this.goal;
    if (share[k] === 0) return 0;
    const predicted = this.predicted[k];
    if (predicted <= this.tiny) return share[k];
    const hits = this.hits[k], l = weight[k];
    if (metric === 0) return share[k] * (1 - (1 - l) * (hits / predicted) - l * (hits / support[k]));
    return share[k] * (1 - metricValue(metric, hits / predicted, hits / support[k], l));
  }

  shortOf(k) {
    const { minPrecision, minRecall, support } = this.goal;
    if (support[k] === 0) return 0;
    const precision = this.predicted[k] > this.tiny ? this.hits[k] / this.predicted[k] : 0;
    return Math.max(minPrecision[k] - precision, 0) + Math.max(minRecall[k] - this.hits[k] / support[k], 0);
  }

  refresh() {
    for (let k = 0; k < this.weight.length; k++) {
      this.loss[k] = this.lossOf(k);
      this.short[k] = this.goal.constrained ? this.shortOf(k) : 0;
    }
  }

  value() {
    return [this.short.reduce((a, b) => a + b, 0), this.loss.reduce((a, b) => a + b, 0)];
  }

  setAside(slot) {
    this.saved[slot][0].set(this.hits);
    this.saved[slot][1].set(this.predicted);
  }

  takeBack(slot) {
    this.hits.set(this.saved[slot][0]);
    this.predicted.set(this.saved[slot][1]);
  }

  /** Take every row that flips between `low` and `high` away from class k, and note where it flips to it. */
  gather(k, low, high) {
    const { classStart, classRow, classValue, truth, multiplicity } = this.patterns;
    const { first, second, firstScore, secondScore, flip, flipRow, flipOther, hits, predicted } = this;
    const weight = this.weight[k];
    let count = 0;
    for (let e = classStart[k], end = classStart[k + 1]; e < end; e++) {
      const i = classRow[e], value = classValue[e];
      let other = first[i], score = firstScore[i];
      if (other === k) {
        other = second[i];
        score = secondScore[i];
      }
      if (other < 0 || score <= low * value || score >= high * value) continue;
      if (wins(weight * value, k, score, other)) {
        predicted[k] -= multiplicity[i];
        predicted[other] += multiplicity[i];
        if (truth[i] === k) hits[k] -= multiplicity[i];
        else if (truth[i] === other) hits[other] += multiplicity[i];
      }
      flip[count] = score / value;
      flipRow[count] = i;
      flipOther[count++] = other;
    }
    this.entries += classStart[k + 1] - classStart[k];
    return count;
  }

  /** Write down every cell of class k's weight, from the lowest upwards; return how many there are. */
  walk(k, order, count, low, high) {
    const { truth, multiplicity } = this.patterns;
    const { flip, flipRow, flipOther, hits, predicted, loss, short, cell } = this;
    const { constrained } = this.goal;
    let [nowShort, nowLoss] = this.value();
    let taken = 0, cells = 0, position = 0;
    while (count > 0) {
      const coming = taken < count ? flip[order[taken]] : Infinity;
      const from = Math.max(position > 0 ? position : 0.25 * coming, low);
      const until = Math.min(taken < count ? coming : 4 * position, high);
      if (until > from * MERGED) {
        if (constrained) nowShort = short.reduce((a, b) => a + b, 0);
        cell.short[cells] = nowShort;
        cell.loss[cells] = nowLoss;
        cell.low[cells] = from;
        cell.high[cells] = until;
        cell.taken[cells++] = taken;
      }
      if (taken === count) break;
      position = coming;
      while (taken < count && flip[order[taken]] <= position * MERGED) {
        const entry = order[taken++];
        position = flip[entry];
        const i = flipRow[entry], other = flipOther[entry], size = multiplicity[i];
        predicted[other] -= size;
        predicted[k] += size;
        if (truth[i] === other) hits[other] -= size;
        else if (truth[i] === k) hits[k] += size;
        const changed = this.lossOf(other);
        nowLoss += changed - loss[other];
        loss[other] = changed;
        if (constrained) short[other] = this.shortOf(other);
      }
      const changed = this.lossOf(k);
      nowLoss += changed - loss[k];
      loss[k] = changed;
      if (constrained) short[k] = this.shortOf(k);
    }
    return cells;
  }

  bestCell(cells) {
    const { cell } = this;
    let best = -1, bestValue = [Infinity, Infinity], bestWidth = 0;
    for (let c = 0; c < cells; c++) {
      if (cell.short[c] > bestValue[0] + EQUAL) continue;
      if (cell.short[c] >= bestValue[0] - EQUAL && cell.loss[c] > bestValue[1] + EQUAL) continue;
      const value = [cell.short[c], cell.loss[c]];
      const width = cell.high[c] / cell.low[c];
      if (better(value, bestValue) || width > bestWidth) {
        best = c;
        bestValue = value;
        bestWidth = width;
      }
    }
    return best;
  }

  drawnCell(cells, temperature, chance) {
    const { cell } = this;
    let lowest = Infinity;
    for (let c = 0; c < cells; c++) lowest = Math.min(lowest, cell.short[c] + cell.loss[c]);
    const odds = (c) => Math.exp((lowest - cell.short[c] - cell.loss[c]) / temperature);
    let total = 0;
    for (let c = 0; c < cells; c++) total += odds(c);
    let mark = chance * total;
    for (let c = 0; c < cells; c++) {
      mark -= odds(c);
      if (mark < 0) return c;
    }
    return cells - 1;
  }

  replay(k, order, taken) {
    const { truth, multiplicity } = this.patterns;
    const { flipRow, flipOther, hits, predicted } = this;
    for (let place = 0; place < taken; place++) {
      const i = flipRow[order[place]], other = flipOther[order[place]];
      predicted[other] -= multiplicity[i];
      predicted[k] += multiplicity[i];
      if (truth[i] === other) hits[other] -= multiplicity[i];
      else if (truth[i] === k) hits[k] += multiplicity[i];
    }
  }

  setWeight(k, weight) {
    const { classStart, classRow, classValue } = this.patterns;
    const { first, second, firstScore, secondScore } = this;
    this.weight[k] = weight;
    for (let e = classStart[k], end = classStart[k + 1]; e < end; e++) {
      const i = classRow[e];
      const score = weight * classValue[e];
      if (first[i] === k) {
        if (wins(score, k, secondScore[i], second[i])) firstScore[i] = score;
        else this.bestTwo(i);
      } else if (wins(score, k, firstScore[i], first[i])) {
        second[i] = first[i];
        secondScore[i] = firstScore[i];
        first[i] = k;
        firstScore[i] = score;
      } else if (second[i] === k) {
        if (score >= secondScore[i]) secondScore[i] = score;
        else this.bestTwo(i);
      } else if (wins(score, k, secondScore[i], second[i])) {
        second[i] = k;
        secondScore[i] = score;
      }
    }
  }

  /** Return the range in which class k's weight may move: every ratio of weights stays within 1e100, the step within `window`. */
  bounds(k, window) {
    let smallest = Infinity, largest = 0;
    this.weight.forEach((one, j) => {
      if (j !== k) {
        smallest = Math.min(smallest, one);
        largest = Math.max(largest, one);
      }
    });
    const weight = this.weight[k];
    return [Math.max(largest / WIDEST, weight / window), Math.min(smallest * WIDEST, weight * window)];
  }

  /** Give class k its best weight if that improves, or with heat a drawn one; return whether the weight changed. */
  lineSearch(k, window = Infinity, heat = null) {
    const before = this.value();
    const [low, high] = this.bounds(k, window);
    this.setAside(0);
    const count = this.gather(k, low, high);
    if (count === 0) return false;
    const order = sortPlaces(this.flip, this.bits, this.order, count);
    this.refresh();
    this.setAside(1);
    const cells = this.walk(k, order, count, low, high);
    const chosen = heat && cells > 0 ? this.drawnCell(cells, heat.temperature, heat.chance) : this.bestCell(cells);
    const { cell } = this;
    const changed = chosen >= 0 && (heat !== null || better([cell.short[chosen], cell.loss[chosen]], before));
    this.takeBack(changed ? 1 : 0);
    if (changed) {
      this.replay(k, order, cell.taken[chosen]);
      this.setWeight(k, Math.sqrt(cell.low[chosen]) * Math.sqrt(cell.high[chosen]));
    }
    this.refresh();
    return changed;
  }

  /** Take the classes in turn until none improves, or the time is over; return shortfall and loss. */
  run(turns, window = Infinity, rounds = 50, until = Infinity) {
    let still = 0;
    for (let turn = 0; still < turns.length && turn < rounds * turns.length; turn++) {
      if (until < Infinity && performance.now() > until) break;
      still = this.lineSearch(turns[turn % turns.length], window) ? 0 : still + 1;
    }
    return this.value();
  }

  /** Return each class's best weight while all others keep theirs. */
  eachAgainstRest() {
    const start = this.weight.slice();
    return start.map((weight, k) => {
      if (!this.lineSearch(k)) return weight;
      const best = this.weight[k];
      this.takeBack(0);
      this.setWeight(k, weight);
      this.refresh();
      return best;
    });
  }

  /** Move each weight in turn to the geometric middle of the range in which no decision changes. */
  centre() {
    const { classStart, classRow, classValue } = this.patterns;
    const { first, second, firstScore, secondScore, weight } = this;
    for (let k = 0; k < weight.length; k++) {
      let below = 0, above = Infinity;
      for (let e = classStart[k]; e < classStart[k + 1]; e++) {
        const i = classRow[e], value = classValue[e];
        const own = first[i] === k;
        const other = own ? second[i] : first[i], score = own ? secondScore[i] : firstScore[i];
        if (other < 0 || score <= 0) continue;
        if (wins(weight[k] * value, k, score, other)) below = Math.max(below, score / value);
        else above = Math.min(above, score / value);
      }
      if (below === 0 && above === Infinity) continue;
      const [low, high] = this.bounds(k, Infinity);
      const from = Math.max(low, below > 0 ? below : 0.25 * above);
      const until = Math.min(high, above < Infinity ? above : 4 * below);
      if (until > from) this.setWeight(k, Math.sqrt(from) * Math.sqrt(until));
    }
  }
}
