// Step 2: the two questions per class, and what they do; the same panel as in the report.

import { choice, el, errorPlace, field } from "./elements.js";
import { mountPanel } from "./panel.js";
import { ask, follow } from "./server.js";
import { changed, choose, hold, model, session } from "./session.js";

let panel = null;
let shown = null;
let waiting = null;
let known = null;
let turns = 0;
const NOTHING = { importance: 1, precision_at_full_recall: null, recall_at_full_precision: null, recall_weight: null, min_precision: null, min_recall: null };

/** The preferences and the weights that the panel shows, as the server takes them. */
export function current() {
  const one = model();
  if (!one || !panel || shown?.id !== one.id) return null;
  return wording(panel.state(), one);
}

function wording(state, one) {
  const fields = Object.keys(NOTHING);
  const classes = state.preferences.classes.map((each, place) => ({
    label: one.classes[place],
    ...Object.fromEntries(fields.map((name) => [name, each[name] ?? null]).filter(([, value]) => value !== null)),
  }));
  return { model: one.id, preferences: { metric: state.preferences.metric, classes }, weights: Array.from(state.weights) };
}

/** Mount the step. */
export function mountTune(root) {
  const error = errorPlace();
  const picker = el("div", { class: "picker" });
  const place = el("div", { class: "panel-place" });
  const empty = el("div", { class: "card empty" }, el("p", {}, "Load a model first; then move the sliders here."));
  root.append(picker, error, empty, place);
  const update = () => show(picker, place, empty, error).catch((problem) => error.show(problem.message));
  changed(update);
}

async function show(picker, place, empty, error) {
  const one = model();
  empty.hidden = one !== null;
  picker.hidden = session.models.length < 2;
  picker.replaceChildren(field("Model", choice(session.models.map((each) => [each.id, each.name]), session.chosen, choose, { id: "model" })));
  const same = one && shown && shown.id === one.id && shown.boot === session.boot;
  if (same) return;
  panel?.destroy();
  panel = null;
  place.replaceChildren();
  shown = one && { id: one.id, boot: session.boot };
  if (!one) return;
  const mark = shown;
  const content = await ask("GET", `/api/models/${one.id}/panel`);
  if (shown !== mark) return;
  const root = el("div");
  place.replaceChildren(root);
  clearTimeout(waiting);
  known = null;
  panel = mountPanel(root, content, {
    retune: (preferences) => retune(one, preferences),
    onChange: (state) => keep(one, state, error),
  });
  // preferences that were set for another model holds for this one too
  if (session.preferences && one.weights.every((weight) => weight === 1)) panel.set({ preferences: panel.state().preferences });
}

/** Search on the server: the first result at once, the best one when it is there and nothing was moved meanwhile. */
async function retune(one, preferences) {
  const turn = ++turns;
  const mine = panel;
  const asked = wording({ preferences, weights: [] }, one).preferences;
  const job = await ask("POST", `/api/models/${one.id}/tune`, { preferences: asked });
  let offer = null;
  const first = new Promise((done) => (offer = done));
  const best = follow(job, (now) => now.result && offer(now.result));
  best.then(async (found) => {
    const known = await first;
    if (turn === turns && mine === panel && better(found, known)) panel.set(found);
  }, () => {});
  return Promise.race([first, best]);
}

const better = (best, first) => best.loss < first.loss - 1e-12 || (best.feasible && !first.feasible);

/** Tell the server what holds, once the sliders rest; what it said itself it need not hear. */
function keep(one, state, error) {
  clearTimeout(waiting);
  const { preferences, weights } = wording(state, one);
  const text = JSON.stringify([preferences, weights]);
  if (known === null) known = text;
  if (known === text) return;
  waiting = setTimeout(() => {
    known = text;
    hold(one.id, preferences, weights).catch((problem) => error.show(problem.message));
  }, 300);
}

/** Show weights that were found elsewhere for a model, if it is the one in view. */
export function takeWeights(id, found) {
  if (panel && shown?.id === id) panel.set({ weights: found.weights, counts: found.counts });
}

/** Take over preferences from a file. */
export function takePreferences(preferences) {
  const now = panel.state().preferences.classes;
  const classes = now.map((_, place) => ({ ...NOTHING, ...preferences.classes.find((each) => each.label === model().classes[place]) }));
  panel.set({ preferences: { metric: preferences.metric, classes } });
}
