// The panel: change preferences and see what it does to each class.

import { decide, readPatterns } from "./evidence.js";
import { lossParts, rates } from "./loss.js";
import { compareWithBaselines } from "./baselines.js";
import { Search } from "./search.js";
import { cutsOf } from "./cuts.js";
import { make, nameOf, setAttribute, setText } from "./elements.js";
import { headlineOf, headlineSentences } from "./headline.js";
import { fromFragment, toFragment } from "./link.js";
import { curvePictures } from "./curves.js";
import { orderOfClasses, preferenceControls } from "./controls.js";
import { classTable, confusionMatrix, verdictCard } from "./results.js";
import { actionBar } from "./actions.js";

const SLICE = 12;
const PAUSE = 150;
const LARGE_PAGE = 60000;

const copyPreferences = ({ metric, cost, positive, classes }) => ({ metric, cost, positive, classes: classes.map((preference) => ({ ...preference })) });

const NAMES = { given: "the decision given", tuned: "tuned on these rows", hand: "weights set by hand" };
const WARNING = "These weights were chosen on the very rows shown, so what they reach here is a little better than it will be on new rows. Check them on rows that neither the model nor the search has seen.";

/** Return everything below the buttons: {node, update(state)}. */
function panelView(page, preferences, patterns, changed, select, pick) {
  let later = null;
  const first = make("span"), second = make("span", { class: "cp-brief" });
  const headline = make("p", { class: "cp-headline", role: "status", "aria-live": "polite" }, first, " ", second);
  const card = verdictCard(preferences);
  const table = classTable(preferences, select);
  const matrix = confusionMatrix(preferences);
  const pictures = curvePictures();
  const title = make("span"), around = make("span", { class: "cp-brief" });
  const controls = preferenceControls(preferences, rates(page.before).support, changed);
  const curves = make("div", { class: "cp-curves" }, make("h3", {}, "Class ", title, around), pictures.node);
  return {
    node: make("div", { class: "cp-columns" }, headline, card.node, controls.node, make("div", { class: "cp-results" }, table.node, curves, matrix.node)),
    update({ counts, weights, chosen, by }) {
      const judged = compareWithBaselines(counts, preferences);
      const known = by !== "given" || page.weighed;
      const before = by === "given" ? null : comparable(page, patterns);
      const [told, right = ""] = headlineSentences(headlineOf(counts, preferences), preferences);
      setText(first, told);
      setText(second, right);
      controls.show();
      card.update(judged, before && lossParts(before, preferences).total, page.follows ? "this result" : NAMES[by]);
      table.update(judged.parts, known ? weights : null, before);
      table.select(chosen);
      matrix.update(counts);
      const { text, short } = preferences.classes[chosen];
      title.replaceChildren(nameOf(text, short));
      setText(around, known ? "" : "The decision given has no weights: the curves are those of equal weights.");
      const rounded = page.binning && known;
      const drawn = rounded ? lossParts(decide(patterns, weights), preferences) : judged.parts;
      const paint = () => {
        const cuts = cutsOf(patterns, weights, chosen, preferences);
        pictures.update(cuts, drawn, preferences, chosen, pick && known ? (cut) => pick(cut, cuts.factor) : null);
      };
      clearTimeout(later);
      if (patterns.rows > LARGE_PAGE) later = setTimeout(paint, PAUSE); // the numbers first; curves once the sliders rest
      else paint();
      return judged;
    },
    stop: () => clearTimeout(later),
  };
}

/** Return the counts of the decision given to compare tuned ones with; null where one is exact and the other of rounded votes. */
function comparable(page, patterns) {
  if (!page.binning || page.remote) return page.before;
  return page.weighed ? decide(patterns, page.weights) : null;
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
 * Show the panel of a document in `root`. It starts with the decision given; where the document says that it follows, or once
 * 'Tune on these rows' is pressed, weights are searched for whatever the sliders say. Options: onChange(state) after each change;
 * retune(preferences), which returns weights and counts, where the document says that weights are searched elsewhere; link(state),
 * which returns the address of a state. Returns state(), set(state), settled(), fragment(), open(fragment), destroy().
 */
export function mountPanel(root, page, options = {}) {
  const patterns = readPatterns(page);
  const { metric: metricNow, cost } = page.preferences;
  const preferences = { metric: metricNow, cost, positive: page.positive, classes: page.preferences.classes.map((preference, k) => ({ ...page.classes[k], ...preference })) };
  const first = copyPreferences(preferences);
  const start = page.follows ? "tuned" : page.starts ?? "given";
  const firstCounts = () => (page.remote ? page.counts : start === "given" ? page.before : decide(patterns, page.weights));
  const counts = firstCounts();
  const now = { weights: page.weights, counts, chosen: orderOfClasses(preferences, rates(page.before).support)[0], settled: true, by: start };
  const waiting = [];
  const state = () => ({ ...now, preferences: copyPreferences(preferences), weights: now.weights.slice(), counts: now.counts.map((row) => Array.from(row)), smoothing: page.smoothing });
  const alert = make("p", { class: "cp-complaint", role: "alert" });
  const warning = make("p", { class: "cp-note cp-warning", hidden: true }, WARNING);
  const render = () => {
    const { parts, sentence } = view.update(now);
    Object.assign(now, { loss: parts.total, sentence });
    if (tuneButton) setAttribute(tuneButton, "aria-pressed", String(now.by === "tuned"));
    warning.hidden = page.follows || now.by === "given";
    actions.update(now.by !== "given" || page.weighed, now.by === "tuned" ? WARNING : null);
    options.onChange?.(state());
  };
  const apply = (weights, settled, counts = null) => {
    Object.assign(now, { weights: Array.from(weights), settled, counts: counts ?? decide(patterns, weights) });
    render();
  };
  const done = () => {
    now.settled = true;
    setAttribute(container, "aria-busy", "false");
    waiting.splice(0).forEach((resolve) => resolve());
  };
  const tuner = page.remote && options.retune
    ? remoteTuner(options.retune, preferences, apply, (text) => setText(alert, text))
    : localTuner(patterns, preferences, apply);
  const changed = () => {
    if (now.by !== "tuned") return render();
    now.settled = false;
    setAttribute(container, "aria-busy", "true"); // until the search has ended nothing is read aloud
    if (page.remote) render();
    return tuner.tune(now.weights, done);
  };
  const select = (k) => {
    now.chosen = k;
    render();
  };
  const pick = page.remote ? null : (cut, factors) => {
    tuner.stop();
    const [low, high] = [factors[cut], factors[cut + 1]];
    const factor = low > 0 && high > 0 ? Math.sqrt(low * high) : low > 0 ? 2 * low : high / 2;
    if (!(factor > 0 && Number.isFinite(factor))) return;
    now.by = "hand";
    apply(now.weights.map((weight, k) => (k === now.chosen ? weight * factor : weight)), true);
    done();
  };
  const assign = ({ metric, cost = null, classes }) => {
    Object.assign(preferences, { metric, cost });
    preferences.classes.forEach((preference, k) => Object.assign(preference, classes[k]));
  };
  const giveBack = () => {
    tuner.stop();
    now.by = start;
    apply(page.weights, true, firstCounts());
    done();
  };
  const tuneButton = page.follows ? null : make("button", { type: "button", class: "cp-primary", "aria-pressed": "false", onclick: () => {
    if (now.by === "tuned") return giveBack();
    now.by = "tuned";
    return changed();
  } }, "Tune on these rows");
  const reset = () => {
    assign(first);
    giveBack();
  };
  const set = (change) => {
    if (change.preferences) assign(change.preferences);
    if (change.chosen !== undefined) now.chosen = change.chosen;
    if (change.by) now.by = change.by;
    else if (change.weights && !page.follows) now.by = "hand";
    if (change.weights) apply(change.weights, true, change.counts);
    else changed();
  };
  const fragment = () => toFragment(state(), first);
  const view = panelView(page, preferences, patterns, changed, select, pick);
  const actions = actionBar(state, reset, tuneButton, options.link && (() => options.link(fragment())));
  const notes = [
    page.binning && `${page.remote ? "curves are drawn of rounded votes" : "tuned results on this page are those of rounded votes, and so is what they are compared with"}: ${page.binning}`,
    page.left_out ? `${page.left_out} rows without any vote are left out` : null,
  ].filter(Boolean);
  const container = make(
    "div", { class: "cp-panel", "aria-busy": "false" }, notes.map((text) => make("p", { class: "cp-note" }, `Note: ${text}.`)), actions.node, warning, alert, view.node,
  );
  root.replaceChildren(container);
  render();
  return {
    state, set, fragment,
    open(text) {
      const change = fromFragment(text, first);
      if (change) {
        if (change.by === start && !change.weights) Object.assign(now, { weights: page.weights, counts: firstCounts() });
        set(change);
      }
      return change !== null;
    },
    settled: () => (now.settled ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    destroy() {
      tuner.stop();
      view.stop();
      container.remove();
    },
  };
}
