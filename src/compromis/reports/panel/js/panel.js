// The panel: turn the knobs of preferences and see what it does to each class.

import { decide, readPatterns } from "./evidence.js";
import { lossParts } from "./loss.js";
import { judge } from "./verdict.js";
import { Search } from "./tune.js";
import { cutsOf } from "./cuts.js";
import { make, nameOf, say } from "./elements.js";
import { curvePictures } from "./curves.js";
import { knobs } from "./controls.js";
import { classTable, confusionMatrix, verdictCard } from "./results.js";
import { actionBar } from "./actions.js";

const SLICE = 12;
const PAUSE = 150;

const copyPreferences = (preferences) => ({ metric: preferences.metric, classes: preferences.classes.map((one) => ({ ...one })) });

function firstPreferences(page) {
  return { metric: page.preferences.metric, classes: page.preferences.classes.map((one, k) => ({ ...page.classes[k], ...one })) };
}

/** Everything that is shown, as one node with one update. */
function view(page, preferences, patterns, turned, choose) {
  const card = verdictCard();
  const table = classTable(preferences, page.before, choose);
  const matrix = confusionMatrix(preferences);
  const pictures = patterns ? curvePictures() : null;
  const subject = make("span", {});
  const controls = knobs(preferences, turned);
  const curves = pictures ? make("div", { class: "cp-curves" }, make("h3", {}, "Class ", subject), pictures.node) : null;
  const results = make("div", { class: "cp-results" }, card.node, table.node, ...(curves ? [curves] : []), matrix.node);
  return {
    node: make("div", { class: "cp-columns" }, controls.node, results),
    update(state) {
      const judged = judge(state.counts, preferences);
      controls.show();
      card.update(judged, lossParts(page.before, preferences).total);
      table.update(judged.parts, state.weights);
      table.chosen(state.chosen);
      matrix.update(state.counts);
      if (pictures) {
        subject.replaceChildren(nameOf(preferences.classes[state.chosen].text));
        pictures.update(cutsOf(patterns, state.weights, state.chosen, preferences), judged.parts, preferences, state.chosen);
      }
      return judged;
    },
  };
}

/** Looks for weights: at once and nearly, then in slices of time until nothing better is found. */
function localTuner(patterns, preferences, apply) {
  let timer = null;
  const refine = (search, done) => {
    const until = performance.now() + SLICE;
    let more = true;
    while (more && performance.now() < until) more = search.step();
    if (more) timer = setTimeout(refine, 0, search, done);
    else {
      timer = null;
      apply(search.weights(), true);
      done();
    }
  };
  return {
    stop: () => clearTimeout(timer),
    go(weights, done) {
      clearTimeout(timer);
      const quick = new Search(patterns, copyPreferences(preferences), weights);
      if (!quick.goal.judged) {
        apply(weights, true);
        return done();
      }
      const near = quick.quick().best.weight;
      apply(Array.from(near), false);
      return (timer = setTimeout(() => refine(new Search(patterns, copyPreferences(preferences), near), done), PAUSE));
    },
  };
}

/** Asks someone else for weights; only the last question's answer counts. */
function remoteTuner(retune, preferences, apply, complain) {
  let asked = 0;
  let timer = null;
  return {
    stop: () => clearTimeout(timer),
    go(_, done) {
      const turn = ++asked;
      clearTimeout(timer);
      timer = setTimeout(async () => {
        try {
          const found = await retune(copyPreferences(preferences));
          if (turn !== asked) return;
          complain("");
          apply(found.weights, true, found.counts);
        } catch (error) {
          if (turn === asked) complain(`No weights came back: ${error.message || error}`);
        }
        if (turn === asked) done();
      }, 30);
    },
  };
}

/**
 * Show the panel of a document in `root`. Options: onChange(state) after each change; retune(preferences), which returns weights
 * and counts, where the document says that weights are searched elsewhere. Returns state(), set(state), settled(), destroy().
 */
export function mountPanel(root, page, options = {}) {
  const patterns = readPatterns(page);
  const preferences = firstPreferences(page);
  const first = copyPreferences(preferences);
  const now = { weights: page.weights.slice(), counts: page.counts, chosen: mostImportant(preferences), settled: true };
  if (patterns && !page.remote) now.counts = decide(patterns, now.weights);
  const waiting = [];
  const state = () => ({
    preferences: copyPreferences(preferences), weights: now.weights.slice(), counts: now.counts.map((row) => Array.from(row)),
    chosen: now.chosen, smoothing: page.smoothing, settled: now.settled, loss: now.loss, informative: now.informative, sentence: now.sentence,
  });
  const complaint = make("p", { class: "cp-complaint", role: "alert" });
  const complain = (text) => say(complaint, text);
  const render = () => {
    const judged = shown.update(now);
    Object.assign(now, { loss: judged.parts.total, informative: judged.informative, sentence: judged.sentence });
    if (options.onChange) options.onChange(state());
  };
  const apply = (weights, settled, counts = null) => {
    Object.assign(now, { weights: Array.from(weights), settled, counts: counts || decide(patterns, weights) });
    render();
  };
  const done = () => {
    now.settled = true;
    waiting.splice(0).forEach((tell) => tell());
  };
  const tuner = page.remote && options.retune ? remoteTuner(options.retune, preferences, apply, complain) : localTuner(patterns, preferences, apply);
  const turned = () => {
    now.settled = false;
    if (page.remote) render();
    tuner.go(now.weights, done);
  };
  const choose = (k) => {
    now.chosen = k;
    render();
  };
  const assign = (other) => {
    preferences.metric = other.metric;
    preferences.classes.forEach((one, k) => Object.assign(one, other.classes[k]));
  };
  const reset = () => {
    assign(first);
    tuner.stop();
    apply(page.weights, true, page.remote ? page.counts : null);
    done();
  };
  const shown = view(page, preferences, patterns, turned, choose);
  const notes = [page.binning, page.left_out ? `${page.left_out} rows without any vote are left out` : null].filter(Boolean);
  const container = make("div", { class: "cp-panel" }, actionBar(state, reset), complaint, shown.node, ...notes.map((text) => make("p", { class: "cp-note" }, `Note: ${text}.`)));
  root.replaceChildren(container);
  render();
  return {
    state,
    set(change) {
      if (change.preferences) assign(change.preferences);
      if (change.chosen !== undefined) now.chosen = change.chosen;
      if (change.weights) apply(change.weights, true, change.counts);
      else turned();
    },
    settled: () => (now.settled ? Promise.resolve() : new Promise((tell) => waiting.push(tell))),
    destroy() {
      tuner.stop();
      container.remove();
    },
  };
}

function mostImportant(preferences) {
  const importance = preferences.classes.map((one) => one.importance);
  return importance.indexOf(Math.max(...importance));
}
