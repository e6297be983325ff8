// The sweep search for weights: descents from several starts, then from heated and perturbed copies of the best.

import { decide } from "./evidence.js";
import { lossParts } from "./loss.js";
import { layOut } from "./preferences.js";
import { Descent } from "./descent.js";

// with this many votes, perturbed weights are searched within a factor, and only now and then along whole lines
const MANY = 20000;
const NEAR = 1.5;
const FAR = 4;
const STATES = new WeakMap();

function stateOf(patterns) {
  if (!STATES.has(patterns)) STATES.set(patterns, new Descent(patterns));
  return STATES.get(patterns);
}

/** A small generator of numbers in [0, 1): the same seed gives the same weights. */
function chances(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(size, next) {
  const turns = Array.from({ length: size }, (_, k) => k);
  for (let place = size - 1; place > 0; place--) {
    const other = Math.floor(next() * (place + 1));
    [turns[place], turns[other]] = [turns[other], turns[place]];
  }
  return turns;
}

function normalised(weights) {
  const middle = Math.exp(weights.reduce((total, one) => total + Math.log(one), 0) / weights.length);
  return Array.from(weights, (one) => one / middle);
}

function starts(descent) {
  const { support } = descent.goal;
  const least = Math.min(...support.filter((one) => one > 0));
  descent.start(support.map(() => 1));
  return [descent.eachAgainstRest(), support.map((one) => 1 / (one > 0 ? one : least)), support.map(() => 1)];
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

function rowWeight(goal) {
  const each = Array.from(goal.share, (one, k) => (goal.support[k] > 0 ? one / goal.support[k] : -1)).filter((one) => one >= 0);
  return each.reduce((total, one) => total + one, 0) / each.length;
}

/** Search for weights step by step: `step()` does a little more and says whether there is anything left to do. */
export class Search {
  constructor(patterns, preferences, start = null) {
    this.patterns = patterns;
    this.preferences = preferences;
    this.goal = layOut(preferences, patterns.support);
    this.descent = stateOf(patterns);
    this.next = chances(7);
    this.turns = Array.from(patterns.support, (_, k) => k);
    this.best = { value: [Infinity, Infinity], weight: null };
    this.failures = this.rounds = this.spent = 0;
    this.queue = start ? [start] : null;
    this.many = patterns.rowClass.length > MANY;
    this.enough = Math.max(30 * patterns.rowClass.length, 3000000);
  }

  offer(value) {
    const [short, loss] = this.best.value;
    if (value[0] < short - 1e-12 || (value[0] <= short + 1e-12 && value[1] < loss - 1e-12)) {
      this.best = { value, weight: this.descent.weight.slice() };
      return true;
    }
    return false;
  }

  /** Descend once from the start alone, by steps of at most a factor and for a moment: an answer for a slider that is still moving. */
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

  /** Return the best weights, in the middle of their cell where that keeps every decision, with geometric mean 1. */
  weights() {
    const { descent } = this;
    descent.aim(this.goal);
    descent.weight.set(this.best.weight);
    descent.prepare();
    descent.centre();
    const candidates = [descent.weight, this.best.weight, this.best.weight.map(() => 1)].map(normalised);
    const value = (weights) => lossParts(decide(this.patterns, weights), this.preferences);
    const judged = candidates.map((weights) => ({ weights, parts: value(weights) }));
    return judged.reduce((a, b) =>
      b.parts.shortfall < a.parts.shortfall || (b.parts.shortfall === a.parts.shortfall && b.parts.total < a.parts.total) ? b : a,
    ).weights;
  }
}

/** Return the weights with which the patterns serve the preferences best. */
export function tune(patterns, preferences, start = null) {
  const search = new Search(patterns, preferences, start);
  if (!search.goal.judged) return patterns.support.length ? Array.from(patterns.support, () => 1) : [];
  while (search.step());
  return search.weights();
}
