// Exact line searches: with the other weights fixed, a row flips once from its best other class to k, at
// max_{j != k} w_j v_ij / v_ik. Sort the flips, walk over them, and put the weight into the middle of the best cell.

import { better, classLoss, excess, moveRow, shortfall, sum } from "./loss.js";
import { sortIndices } from "./order.js";

const MERGED = 1 + 1e-11;
const EQUAL = 1e-12;
const TIE = 1 - 1e-9;
const WIDEST = 1e100;

const wins = (score, k, otherScore, other) => score > otherScore || (score === otherScore && k < other);

/** The running state of a search over one set of patterns: the two best scores of each row, and the counts of each class. */
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
    this.paid = 0; // the sum of the costs of all rows, in the largest cost
    this.savedPaid = [0, 0];
    this.flip = new Float64Array(rows);
    this.flipRow = new Int32Array(rows);
    this.flipOther = new Int32Array(rows);
    this.order = [new Int32Array(rows), new Int32Array(rows)];
    const column = () => new Float64Array(rows + 1);
    this.cell = { low: column(), high: column(), loss: column(), short: column(), taken: new Int32Array(rows + 1) };
  }

  /** Minimise for these `preferenceArrays` from now on. */
  aim(goal) {
    this.goal = goal;
    this.tiny = 1e-12 * sum(goal.support);
  }

  /** Bring the state in line with the weights; ties are broken as the rule does, by factors next to 1. */
  start(weights) {
    const { weight } = this;
    for (let k = 0; k < weight.length; k++) weight[k] = weights[k] * TIE ** k;
    this.prepare();
    return this.value();
  }

  /** Return what predicting row i as class k costs. */
  price(i, k) {
    const { truth, multiplicity } = this.patterns;
    return (multiplicity[i] * this.goal.cost[truth[i]][k]) / (this.goal.unit * this.goal.rows);
  }

  /** Predict row i as another class. */
  move(i, from, to) {
    moveRow(this.patterns, this.hits, this.predicted, i, from, to);
    if (this.goal.cost) this.paid += this.price(i, to) - this.price(i, from);
  }

  prepare() {
    const { rows, truth, multiplicity } = this.patterns;
    const { first, hits, predicted } = this;
    hits.fill(0);
    predicted.fill(0);
    this.paid = 0;
    for (let i = 0; i < rows; i++) {
      this.bestTwo(i);
      const k = first[i];
      if (k < 0) continue;
      predicted[k] += multiplicity[i];
      if (truth[i] === k) hits[k] += multiplicity[i];
      if (this.goal.cost) this.paid += this.price(i, k);
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

  /** Return how many rows are predicted as class k; sums of weights that cancel out leave rounding behind. */
  size(k) {
    return this.predicted[k] > this.tiny ? this.predicted[k] : 0;
  }

  lossOf(k) {
    return classLoss(this.goal, k, this.hits[k], this.size(k));
  }

  shortOf(k) {
    const { minPrecision, minRecall, maxShare, rows, support } = this.goal;
    const over = excess(this.size(k), rows, maxShare[k]);
    if (support[k] === 0) return over;
    const precision = this.size(k) > 0 ? this.hits[k] / this.predicted[k] : 0;
    return over + shortfall(precision, minPrecision[k]) + shortfall(this.hits[k] / support[k], minRecall[k]);
  }

  refresh() {
    for (let k = 0; k < this.weight.length; k++) {
      this.loss[k] = this.goal.cost ? 0 : this.lossOf(k);
      this.short[k] = this.goal.constrained ? this.shortOf(k) : 0;
    }
  }

  value() {
    return [sum(this.short), this.goal.cost ? this.paid : sum(this.loss)];
  }

  save(slot) {
    this.saved[slot][0].set(this.hits);
    this.saved[slot][1].set(this.predicted);
    this.savedPaid[slot] = this.paid;
  }

  restore(slot) {
    this.hits.set(this.saved[slot][0]);
    this.predicted.set(this.saved[slot][1]);
    this.paid = this.savedPaid[slot];
  }

  /** Take every row that flips between `low` and `high` away from class k, and write down where it flips; return how many. */
  gather(k, low, high) {
    const { classStart, classRow, classValue } = this.patterns;
    const { first, second, firstScore, secondScore, flip, flipRow, flipOther } = this;
    const weight = this.weight[k];
    let size = 0;
    for (let e = classStart[k], end = classStart[k + 1]; e < end; e++) {
      const i = classRow[e], value = classValue[e];
      let other = first[i], score = firstScore[i];
      if (other === k) {
        other = second[i];
        score = secondScore[i];
      }
      if (other < 0 || score <= low * value || score >= high * value) continue;
      if (wins(weight * value, k, score, other)) this.move(i, k, other);
      flip[size] = score / value;
      flipRow[size] = i;
      flipOther[size++] = other;
    }
    this.entries += classStart[k + 1] - classStart[k];
    return size;
  }

  /** Write down every cell of class k's weight, from the lowest upwards; return how many there are. */
  walk(k, order, size, low, high) {
    const { flip, flipRow, flipOther, loss, short, cell } = this;
    const { constrained, cost } = this.goal;
    let [nowShort, nowLoss] = this.value();
    const changed = (j) => {
      const now = cost ? 0 : this.lossOf(j);
      nowLoss = cost ? this.paid : nowLoss + now - loss[j];
      loss[j] = now;
      if (constrained) short[j] = this.shortOf(j);
    };
    let taken = 0, cells = 0, position = 0;
    while (size > 0) {
      // the cell between the last flip and the next; the outermost ones end at a factor of 4
      const next = taken < size ? flip[order[taken]] : Infinity;
      const from = Math.max(position > 0 ? position : 0.25 * next, low);
      const until = Math.min(taken < size ? next : 4 * position, high);
      if (until > from * MERGED) {
        if (constrained) nowShort = sum(short);
        cell.short[cells] = nowShort;
        cell.loss[cells] = nowLoss;
        cell.low[cells] = from;
        cell.high[cells] = until;
        cell.taken[cells++] = taken;
      }
      if (taken === size) break;
      // all rows that flip here, equal up to rounding
      position = next;
      while (taken < size && flip[order[taken]] <= position * MERGED) {
        const entry = order[taken++];
        position = flip[entry];
        this.move(flipRow[entry], flipOther[entry], k);
        changed(flipOther[entry]);
      }
      changed(k);
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
      if (better(value, bestValue, EQUAL) || width > bestWidth) {
        best = c;
        bestValue = value;
        bestWidth = width;
      }
    }
    return best;
  }

  randomCell(cells, temperature, chance) {
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
    for (let i = 0; i < taken; i++) this.move(this.flipRow[order[i]], this.flipOther[order[i]], k);
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
    this.weight.forEach((other, j) => {
      if (j !== k) {
        smallest = Math.min(smallest, other);
        largest = Math.max(largest, other);
      }
    });
    const weight = this.weight[k];
    return [Math.max(largest / WIDEST, weight / window), Math.min(smallest * WIDEST, weight * window)];
  }

  /** Give class k its best weight if that improves, or with `heat` a random one; return whether the weight changed. */
  lineSearch(k, window = Infinity, heat = null) {
    const before = this.value();
    const [low, high] = this.bounds(k, window);
    this.save(0);
    const size = this.gather(k, low, high);
    if (size === 0) return false;
    const order = sortIndices(this.flip, this.order, size);
    this.refresh();
    this.save(1);
    const cells = this.walk(k, order, size, low, high);
    const chosen = heat && cells > 0 ? this.randomCell(cells, heat.temperature, heat.chance) : this.bestCell(cells);
    const { cell } = this;
    const changed = chosen >= 0 && (heat !== null || better([cell.short[chosen], cell.loss[chosen]], before, EQUAL));
    this.restore(changed ? 1 : 0);
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
      this.restore(0);
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
