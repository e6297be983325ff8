// Search for weights: descents from several starts, then from heated and perturbed copies of the best weights.

import { decide } from "./evidence.js";
import { better, lossParts, sum } from "./loss.js";
import { preferenceArrays } from "./preferences.js";
import { Descent } from "./descent.js";

// with more votes than this, perturbed weights are searched within a factor, and only now and then along whole lines
const MANY = 20000;
const NEAR = 1.5;
const FAR = 4;
const STATES = new WeakMap();

function stateOf(patterns) {
  if (!STATES.has(patterns)) STATES.set(patterns, new Descent(patterns));
  return STATES.get(patterns);
}

/** Return a generator of numbers in [0, 1): the same seed gives the same weights. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(size, next) {
  const order = Array.from({ length: size }, (_, k) => k);
  for (let i = size - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function normalised(weights) {
  const mean = Math.exp(sum(Array.from(weights, Math.log)) / weights.length);
  return Array.from(weights, (weight) => weight / mean);
}

function starts(descent) {
  const { support } = descent.goal;
  const least = Math.min(...support.filter((rows) => rows > 0));
  const equal = support.map(() => 1);
  descent.start(equal);
  return [descent.eachAgainstRest(), support.map((rows) => 1 / (rows || least)), equal];
}

function jump(weights, next) {
  const most = Math.max(2, Math.floor(weights.length / 4));
  const scale = [0.1, 0.5, 2][Math.floor(next() * 3)];
  const moved = weights.slice();
  for (const k of shuffled(weights.length, next).slice(0, 1 + Math.floor(next() * most))) {
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    moved[k] *= Math.exp(scale * normal);
  }
  return moved;
}

/** Return the mean over classes of what one row is worth, the scale of a temperature. */
function rowWeight(goal) {
  if (goal.cost) return sum(goal.cost.flat().map(Math.abs)) / (goal.cost.length ** 2 * goal.unit * goal.rows);
  const worth = Array.from(goal.share, (share, k) => share / goal.support[k]).filter((value) => !Number.isNaN(value));
  return sum(worth) / worth.length;
}

/** Search for weights step by step: `step()` runs one descent and returns whether there is anything left to do. */
export class Search {
  constructor(patterns, preferences, start = null) {
    this.patterns = patterns;
    this.preferences = preferences;
    this.goal = preferenceArrays(preferences, patterns.support);
    this.descent = stateOf(patterns);
    this.next = randomNumbers(7);
    this.turns = Array.from(patterns.support, (_, k) => k);
    this.best = { value: [Infinity, Infinity], weight: null };
    this.failures = this.rounds = this.spent = 0;
    this.queue = start ? [start] : null;
    this.many = patterns.rowClass.length > MANY;
    this.enough = Math.max(30 * patterns.rowClass.length, 3000000);
  }

  offer(value) {
    const improves = better(value, this.best.value, 1e-12);
    if (improves) this.best = { value, weight: this.descent.weight.slice() };
    return improves;
  }

  /** Descend from the start alone, for a few milliseconds and within a factor: the result for a slider that still moves. */
  quick(milliseconds = 14) {
    const until = performance.now() + milliseconds;
    this.descent.aim(this.goal);
    this.descent.start(this.queue[0]);
    this.offer(this.descent.value());
    this.offer(this.descent.run(this.turns, FAR, 3, until));
    return this;
  }

  step() {
    const { descent } = this;
    const before = descent.entries;
    descent.aim(this.goal);
    if (this.queue === null || this.rounds === 0) this.queue = [...(this.queue || []), ...starts(descent)];
    if (this.rounds < this.queue.length) {
      descent.start(this.queue[this.rounds]);
      this.offer(descent.run(this.turns, this.many ? FAR : Infinity));
    } else this.perturb();
    this.rounds++;
    this.spent += descent.entries - before;
    return this.rounds < 400 && this.failures < 100 && (this.spent < this.enough || this.rounds < 8);
  }

  perturb() {
    const { descent, next } = this;
    const every = this.many ? 4 : 2;
    const window = this.many && this.rounds % 3 ? NEAR : Infinity;
    if (this.rounds % every !== every - 1) {
      descent.start(this.best.weight);
      const temperature = Math.exp(next() * Math.log(3)) * rowWeight(this.goal);
      for (const k of shuffled(this.turns.length, next)) descent.lineSearch(k, window, { temperature, chance: next() });
    } else descent.start(jump(this.best.weight, next));
    this.failures = this.offer(descent.run(shuffled(this.turns.length, next), window)) ? 0 : this.failures + 1;
  }

  /** Return the best weights, in the middle of their cell where that changes no prediction, with geometric mean 1. */
  weights() {
    const { descent } = this;
    descent.aim(this.goal);
    descent.weight.set(this.best.weight);
    descent.prepare();
    descent.centre();
    const candidates = [descent.weight, this.best.weight, this.best.weight.map(() => 1)].map(normalised);
    const value = (weights) => {
      const parts = lossParts(decide(this.patterns, weights), this.preferences);
      return [parts.shortfall, parts.total];
    };
    return candidates.reduce((best, weights) => (better(value(weights), value(best)) ? weights : best));
  }
}

/** Return the weights that serve the preferences best. */
export function tune(patterns, preferences, start = null) {
  const search = new Search(patterns, preferences, start);
  if (!search.goal.judged) return Array.from(patterns.support, () => 1);
  while (search.step());
  return search.weights();
}
