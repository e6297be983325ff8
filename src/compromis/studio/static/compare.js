// Step 3: the trade-off curves of the models, one class at a time.

import { choice, errorMessage, field, named, refill, shorten } from "./elements.js";
import { decimal, draw, make, METRICS, percent, recallWeight } from "./panel.js";
import { ask, Cancelled, follow, on } from "./server.js";
import { model, preferencesFor, session } from "./session.js";
import { term } from "./terms.js";
import { current, holdNow, takeWeights } from "./tune.js";

let tuned = { to: null, losses: new Map() };
let turns = 0;

/** Mount the step; returns what to do when it comes into view. */
export function mountCompare(root) {
  const error = errorMessage();
  const controls = make("div", { class: "fields" });
  const result = make("div", { class: "comparison" });
  let label = null;
  root.append(make("div", { class: "card" }, make("h2", {}, "Which model for which trade-off?"),
    make("p", { class: "lead" }, "Each curve shows the best ", term("value"), " that a model’s votes offer for one class at every ", term("recall weight"), ": 0 counts precision alone, 1 recall alone. The line marks your preferences; the strip below shows who is best where."),
    controls, error, result));
  const update = async () => {
    const [turn, chosen] = [++turns, model()];
    if (!chosen) {
      controls.replaceChildren();
      result.replaceChildren(make("p", { class: "quiet-text" }, "Load a model first."));
      return;
    }
    if (!chosen.classes.includes(label)) label = firstClass(chosen);
    const changeClass = (value) => ((label = value), update());
    refill(controls,
      field("Class", choice(chosen.classes.map((name) => [name, name]), label, changeClass, { id: "compare-class" })),
      rivals(label).length > 1 ? tuneAll(error, update, label) : make("p", { class: "quiet-text" }, "Load a second model, or a second set of columns, to compare."));
    try {
      error.show("");
      result.ariaBusy = "true";
      await holdNow();
      const preferences = wanted();
      const comparison = await follow(await ask("POST", "/api/compare", { label, metric: preferences?.metric ?? "f" }));
      if (turn === turns) showComparison(result, comparison, preferences);
    } catch (problem) {
      if (turn === turns && !(problem instanceof Cancelled)) error.show(problem.message);
    }
    if (turn === turns) result.ariaBusy = "false";
  };
  on("changed", () => !root.hidden && update());
  return update;
}

const wanted = () => current()?.preferences ?? session.preferences;
const preferenceOf = (preferences, label) => preferences?.classes.find((preference) => preference.label === label);

/** The models that know a class, which are those compared. */
const rivals = (label) => session.models.filter(({ classes }) => classes.includes(label));

/** What a tuned loss belongs to: preferences, and the server that numbers the models. */
const tunedTo = (preferences) => JSON.stringify([session.boot, preferences]);

/** The class that matters most, else the rarest. */
function firstClass({ classes, support }) {
  const preferences = wanted();
  const rows = classes.map((label, k) => ({ label, importance: preferenceOf(preferences, label)?.importance ?? 1, support: support[k] }));
  return rows.sort((a, b) => b.importance - a.importance || a.support - b.support)[0].label;
}

function tuneAll(error, update, label) {
  const models = rivals(label);
  const text = `Tune the ${models.length} models compared`;
  const button = make("button", { type: "button", class: "primary", onclick: async () => {
    const preferences = wanted();
    if (!preferences) return error.show("Set preferences in step 2 first.");
    button.disabled = true;
    try {
      const results = new Map(); // one after the other: browsers keep few connections, and the page needs some of them
      for (const [i, each] of models.entries()) {
        button.textContent = `Tuning ${i + 1} of ${models.length}`;
        results.set(each.id, await follow(await ask("POST", `/api/models/${each.id}/tune`, { preferences: preferencesFor(each, preferences) })));
      }
      tuned = { to: tunedTo(preferences), losses: results };
      for (const [id, found] of results) takeWeights(id, found);
    } catch (problem) {
      if (!(problem instanceof Cancelled)) error.show(problem.message);
    }
    button.disabled = false;
    button.textContent = text;
    return update();
  } }, text);
  return button;
}

/** Return the line of a model as the chart draws it. */
const lineKey = (i) => draw("svg", { viewBox: "0 0 34 8", class: "key", "aria-hidden": "true" }, draw("line", { x1: 1, x2: 33, y1: 4, y2: 4, class: `curve stroke-${i % 8}` }));

function showComparison(root, comparison, preferences) {
  const losses = tuned.to === tunedTo(preferences) ? tuned.losses : new Map();
  const rows = comparison.curves.map((curve, i) => make("tr", {},
    make("th", { scope: "row" }, lineKey(i), named(curve.name)),
    [decimal(curve.area), percent(curve.share), percent(curve.at.recall), percent(curve.at.precision), losses.get(curve.id)?.loss?.toFixed(4) ?? "–"]
      .map((text) => make("td", {}, text))));
  const head = ["Model", term("area", "Area"), term("best for", "Best for"), term("recall", "Recall now"), term("precision", "Precision now"), term("loss", "Loss when tuned")]
    .map((text) => make("th", { scope: "col" }, text));
  root.replaceChildren(
    make("p", { class: "verdict" }, make("bdi", {}, comparison.verdict)),
    tradeoffChart(comparison, preferenceOf(preferences, comparison.label)),
    make("div", { class: "scroll" }, make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))),
    make("p", { class: "quiet-text" }, "Area: the mean value over all recall weights. Best for: the share of recall weights at which the model is best; where models are equal (grey in the strip) each counts. Now: with the present weights."));
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 360, 56, 16, 16, 62];
const x = (weight) => LEFT + weight * (WIDTH - LEFT - RIGHT);

/** Return the curves of a comparison, value over recall weight; a vertical line marks the preference for its class. */
function tradeoffChart(comparison, preference) {
  const least = Math.min(...comparison.curves.flatMap((curve) => curve.value.filter((value) => value !== null)));
  const low = Number.isFinite(least) ? Math.min(0.8, Math.max(0, Math.floor(10 * least - 0.5) / 10)) : 0;
  const y = (value) => TOP + ((1 - value) / (1 - low)) * (HEIGHT - TOP - BOTTOM);
  const weight = preference && recallWeight(METRICS.indexOf(comparison.metric), preference);
  const chart = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": comparison.verdict },
    grid(low, y), winners(comparison), comparison.curves.map((curve, i) => curveLine(curve, i, y)), Number.isFinite(weight) ? preferenceLine(weight) : []);
  const readout = make("figcaption", { class: "quiet-text readout" }, "Point at the chart to read values.");
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    if (at < 0 || at > 1) return;
    const step = Math.round(100 * at);
    readout.textContent = `recall weight ${(step / 100).toFixed(2)}: ${comparison.curves.map(({ name, value }) => `${shorten(name)} ${decimal(value[step], 3)}`).join(", ")}`;
  });
  return make("figure", { class: "chart-place" }, chart, readout);
}

function grid(low, y) {
  const text = (attributes, content) => draw("text", { "text-anchor": "middle", ...attributes }, content);
  const step = 1 - low > 0.5 ? 0.2 : 0.1;
  const values = Array.from({ length: Math.floor((1 - low) / step + 1e-9) + 1 }, (_, k) => 1 - k * step);
  const middle = HEIGHT / 2 - 24;
  return draw("g", { class: "grid" },
    values.map((value) => draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) })),
    values.map((value) => text({ x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, Math.abs(value).toFixed(1))),
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((weight) => text({ x: x(weight), y: HEIGHT - BOTTOM + 34 }, weight.toFixed(1))),
    text({ x: x(0.5), y: HEIGHT - 8, class: "axis" }, "recall weight: precision matters ← → recall matters"),
    text({ x: 14, y: middle, transform: `rotate(-90 14 ${middle})`, class: "axis" }, low > 0 ? `value (from ${low.toFixed(1)})` : "value"));
}

/** Return the strip below the curves that shows which model is best. */
function winners({ curves, winners: ranges }) {
  const index = new Map(curves.map((curve, i) => [curve.name, i]));
  return draw("g", {}, ranges.map(({ low, high, best }) => draw("rect", {
    x: x(low), width: Math.max(0.5, x(high) - x(low)), y: HEIGHT - BOTTOM + 6, height: 9, class: best.length > 1 ? "best fill-tie" : `best fill-${index.get(best[0]) % 8}`,
  }, draw("title", {}, `${best.join(" = ")} from ${low.toFixed(3)} to ${high.toFixed(3)}`))));
}

function curveLine({ name, value }, i, y) {
  const points = value.map((height, k) => (height === null ? null : `${x(k / (value.length - 1)).toFixed(1)},${y(height).toFixed(1)}`));
  return draw("polyline", { points: points.filter(Boolean).join(" "), class: `curve stroke-${i % 8}` }, draw("title", {}, shorten(name)));
}

function preferenceLine(weight) {
  const left = weight > 0.8;
  return [
    draw("line", { x1: x(weight), x2: x(weight), y1: TOP, y2: HEIGHT - BOTTOM + 15, class: "preference-line" }),
    draw("text", { x: x(weight) + (left ? -6 : 6), y: TOP + 12, "text-anchor": left ? "end" : "start", class: "preference-text" }, `your preferences: ${weight.toFixed(2)}`),
  ];
}
