// Step 2: preferences by class and what they do; the panel of the report.

import { askCard } from "./ask.js";
import { choice, errorMessage, field, refill } from "./elements.js";
import { better, headlineOf, headlineSentences, make, mountPanel } from "./panel.js";
import { ask, follow, on } from "./server.js";
import { choose, hold, model, remember, session } from "./session.js";
import { glossary } from "./terms.js";

const DEFAULTS = { importance: 1, precision_at_full_recall: null, recall_at_full_precision: null, recall_weight: null, min_precision: null, min_recall: null, max_share: null, confidence: null };
const RESTING = 300;

let panel = null;
let shown = null;
let timer = null;
let held = null;
let unheld = null; // tells the server what it was not told yet
let showing = Promise.resolve();
let telling = Promise.resolve(); // one word after the other, so that the last is the last
let turns = 0;
const headline = make("div", { class: "headline", role: "status", id: "headline" });

/** Return the preferences and weights that the panel shows, as the server takes them; null if there is no panel. */
export function current() {
  const chosen = model();
  if (!chosen || !panel || shown?.id !== chosen.id) return null;
  return asRequest(panel.state(), chosen);
}

function asRequest({ preferences, weights }, { id, classes }) {
  const rows = preferences.classes.map((preference, k) => {
    const given = Object.keys(DEFAULTS).filter((name) => preference[name] != null);
    return { label: classes[k], ...Object.fromEntries(given.map((name) => [name, preference[name]])) };
  });
  const cost = preferences.cost && { labels: classes, matrix: preferences.cost };
  return { model: id, preferences: { metric: preferences.metric, cost, classes: rows }, weights: Array.from(weights) };
}

/** Mount the step. */
export function mountTune(root) {
  const error = errorMessage();
  const picker = make("div", { class: "picker" });
  const container = make("div", { class: "panel-place" });
  const card = askCard((preferences) => takePreferences(preferences));
  const words = glossary();
  const empty = make("div", { class: "card empty" }, make("p", {}, "Load a model first; then move the sliders here."));
  root.append(picker, headline, error, empty, card.node, container, words);
  const update = async () => {
    const chosen = model();
    empty.hidden = chosen !== null;
    words.hidden = chosen === null;
    picker.hidden = session.models.length < 2;
    if (!chosen) headline.replaceChildren();
    refill(picker, field("Model", choice(session.models.map(({ id, name }) => [id, name]), session.chosen, choose, { id: "model" })));
    if (chosen?.id !== shown?.id || (chosen && shown.boot !== session.boot)) await showPanel(chosen, container, error);
    card.show(chosen, session.preferences);
  };
  const show = () => (showing = update().then(() => error.show(""), (problem) => error.show(problem.message)));
  on("changed", show);
  on("connection", (lost) => lost || panel || show());
}

async function showPanel(chosen, container, error) {
  if (shown?.boot !== session.boot) unheld = null; // its model has another number now, or is gone
  holdNow(); // what was moved last counts for the next model too
  panel?.destroy();
  panel = null;
  container.replaceChildren();
  const mine = chosen && { id: chosen.id, boot: session.boot };
  shown = mine;
  if (!chosen) return;
  await telling;
  const page = await ask("GET", `/api/models/${chosen.id}/panel`).catch((problem) => {
    if (shown === mine) shown = null; // so that it is asked for again
    throw problem;
  });
  if (shown !== mine) return;
  clearTimeout(timer);
  held = unheld = null;
  const root = make("div");
  container.replaceChildren(root);
  panel = mountPanel(root, page, {
    retune: (preferences) => retune(chosen, preferences),
    onChange: (state) => (showHeadline(state, page), holdWhenResting(chosen, state, error)),
  });
  // preferences that were set for another model hold for this one too
  if (session.preferences && chosen.weights.every((weight) => weight === 1)) panel.set({ preferences: panel.state().preferences });
}

/** Say the result in rows before anything else, and what the votes decide by themselves. */
function showHeadline({ preferences, counts }, page) {
  const told = (matrix) => headlineSentences(headlineOf(matrix, preferences), preferences);
  const [now, before] = [told(counts), told(page.before)];
  const same = now.join() === before.join();
  headline.replaceChildren(make("p", { class: "headline-now" }, now[0]),
    make("p", { class: "quiet-text" }, same ? now.slice(1).join(" ") : `${now.slice(1).join(" ")} Without tuning: ${before[0][0].toLowerCase()}${before[0].slice(1)}`));
}

/** Search on the server: return the first result; the best one replaces it if it is better and nothing was moved meanwhile. */
async function retune(chosen, preferences) {
  const turn = ++turns;
  const mine = panel;
  const request = asRequest({ preferences, weights: [] }, chosen).preferences;
  const job = await ask("POST", `/api/models/${chosen.id}/tune`, { preferences: request });
  let offer = null;
  const first = new Promise((resolve) => (offer = resolve));
  const best = follow(job, (now) => now.result && offer(now.result));
  const value = ({ feasible, loss }) => [Number(!feasible), loss];
  best.then(async (result) => {
    const before = await first;
    if (turn === turns && mine === panel && better(value(result), value(before), 1e-12)) panel.set(result);
  }, () => {});
  return Promise.race([first, best]);
}

/** Tell the server the preferences and weights once the sliders rest; not those that it sent itself. */
function holdWhenResting(chosen, state, error) {
  clearTimeout(timer);
  unheld = null;
  const { preferences, weights } = asRequest(state, chosen);
  const text = JSON.stringify([preferences, weights]);
  held ??= text;
  if (held === text) return;
  remember(chosen.id, preferences, weights);
  const word = async () => {
    try {
      await hold(chosen.id, preferences, weights);
      held = text;
      error.show("");
    } catch (problem) {
      unheld ??= word;
      error.show(problem.message);
    }
  };
  unheld = word;
  timer = setTimeout(holdNow, RESTING);
}

/** Tell the server at once what the panel shows, before it is asked what follows from that. */
export function holdNow() {
  clearTimeout(timer);
  if (unheld) telling = telling.then(unheld);
  unheld = null;
  return telling;
}

/** Wait until the panel is there and its search has ended. */
export async function settled() {
  await showing;
  await panel?.settled();
}

/** Show weights that were found elsewhere for a model, if it is the one in view. */
export function takeWeights(id, { weights, counts }) {
  if (panel && shown?.id === id) panel.set({ weights, counts });
}

/** Show preferences from a file. */
export function takePreferences({ metric, cost, classes }) {
  const rows = model().classes.map((label) => ({ ...DEFAULTS, ...classes.find((preference) => preference.label === label) }));
  const most = Math.max(...rows.map(({ importance }) => importance));
  panel.set({ preferences: { metric, cost, classes: rows }, chosen: rows.findIndex(({ importance }) => importance === most) });
}
