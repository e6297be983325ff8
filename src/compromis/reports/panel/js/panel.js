// The panel: change preferences and see what it does to each class.

import { decide, readPatterns } from "./evidence.js";
import { lossParts } from "./loss.js";
import { compareWithBaselines } from "./baselines.js";
import { Search } from "./search.js";
import { cutsOf } from "./cuts.js";
import { make, nameOf, setText } from "./elements.js";
import { curvePictures } from "./curves.js";
import { mostImportant, preferenceControls } from "./controls.js";
import { classTable, confusionMatrix, verdictCard } from "./results.js";
import { actionBar } from "./actions.js";

const SLICE = 12;
const PAUSE = 150;

const copyPreferences = ({ metric, cost, classes }) => ({ metric, cost, classes: classes.map((preference) => ({ ...preference })) });

/** Return everything below the buttons: {node, update(state)}. */
function panelView(page, preferences, patterns, changed, select) {
  const card = verdictCard(preferences);
  const table = classTable(preferences, page.before, select);
  const matrix = confusionMatrix(preferences);
  const pictures = curvePictures();
  const title = make("span");
  const controls = preferenceControls(preferences, changed);
  const curves = make("div", { class: "cp-curves" }, make("h3", {}, "Class ", title), pictures.node);
  return {
    node: make("div", { class: "cp-columns" }, controls.node, make("div", { class: "cp-results" }, card.node, table.node, curves, matrix.node)),
    update({ counts, weights, chosen }) {
      const judged = compareWithBaselines(counts, preferences);
      controls.show();
      card.update(judged, lossParts(page.before, preferences).total);
      table.update(judged.parts, weights);
      table.select(chosen);
      matrix.update(counts);
      title.replaceChildren(nameOf(preferences.classes[chosen].text));
      pictures.update(cutsOf(patterns, weights, chosen, preferences), judged.parts, preferences, chosen);
      return judged;
    },
  };
}

/** Search here: a quick result at once, then in slices of time until nothing better is found. */
function localTuner(patterns, preferences, apply) {
  let timer = null;
  const refine = (search, done) => {
    const until = performance.now() + SLICE;
    let more = true;
    while (more && performance.now() < until) more = search.step();
    if (more) timer = setTimeout(refine, 0, search, done);
    else {
      apply(search.weights(), true);
      done();
    }
  };
  return {
    stop: () => clearTimeout(timer),
    tune(weights, done) {
      clearTimeout(timer);
      const wanted = copyPreferences(preferences);
      const quick = new Search(patterns, wanted, weights);
      if (!quick.goal.judged) {
        apply(weights, true);
        done();
        return;
      }
      const near = quick.quick().best.weight;
      apply(near, false);
      timer = setTimeout(() => refine(new Search(patterns, wanted, near), done), PAUSE);
    },
  };
}

/** Ask `retune` for weights; only the answer to the last question counts. */
function remoteTuner(retune, preferences, apply, showError) {
  let last = 0, timer = null;
  return {
    stop: () => clearTimeout(timer),
    tune(_, done) {
      const turn = ++last;
      clearTimeout(timer);
      timer = setTimeout(async () => {
        try {
          const result = await retune(copyPreferences(preferences));
          if (turn !== last) return;
          showError("");
          apply(result.weights, true, result.counts);
        } catch (error) {
          if (turn === last) showError(`No weights came back: ${error.message || error}`);
        }
        if (turn === last) done();
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
  const { metric: metricNow, cost } = page.preferences;
  const preferences = { metric: metricNow, cost, classes: page.preferences.classes.map((preference, k) => ({ ...page.classes[k], ...preference })) };
  const first = copyPreferences(preferences);
  const now = { weights: page.weights, counts: page.remote ? page.counts : decide(patterns, page.weights), chosen: mostImportant(preferences), settled: true };
  const waiting = [];
  const state = () => ({ ...now, preferences: copyPreferences(preferences), weights: now.weights.slice(), counts: now.counts.map((row) => Array.from(row)), smoothing: page.smoothing });
  const alert = make("p", { class: "cp-complaint", role: "alert" });
  const render = () => {
    const { parts, sentence } = view.update(now);
    Object.assign(now, { loss: parts.total, sentence });
    options.onChange?.(state());
  };
  const apply = (weights, settled, counts = null) => {
    Object.assign(now, { weights: Array.from(weights), settled, counts: counts ?? decide(patterns, weights) });
    render();
  };
  const done = () => {
    now.settled = true;
    waiting.splice(0).forEach((resolve) => resolve());
  };
  const tuner = page.remote && options.retune
    ? remoteTuner(options.retune, preferences, apply, (text) => setText(alert, text))
    : localTuner(patterns, preferences, apply);
  const changed = () => {
    now.settled = false;
    if (page.remote) render();
    tuner.tune(now.weights, done);
  };
  const select = (k) => {
    now.chosen = k;
    render();
  };
  const assign = ({ metric, cost = null, classes }) => {
    Object.assign(preferences, { metric, cost });
    preferences.classes.forEach((preference, k) => Object.assign(preference, classes[k]));
  };
  const reset = () => {
    assign(first);
    tuner.stop();
    apply(page.weights, true, page.remote ? page.counts : null);
    done();
  };
  const view = panelView(page, preferences, patterns, changed, select);
  const notes = [page.binning, page.left_out ? `${page.left_out} rows without any vote are left out` : null].filter(Boolean);
  const container = make(
    "div", { class: "cp-panel" }, actionBar(state, reset), alert, view.node,
    notes.map((text) => make("p", { class: "cp-note" }, `Note: ${text}.`)),
  );
  root.replaceChildren(container);
  render();
  return {
    state,
    set(change) {
      if (change.preferences) assign(change.preferences);
      if (change.chosen !== undefined) now.chosen = change.chosen;
      if (change.weights) apply(change.weights, true, change.counts);
      else changed();
    },
    settled: () => (now.settled ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    destroy() {
      tuner.stop();
      container.remove();
    },
  };
}
