// Step 3: the models in the trade-off space, one class at a time.

import { tradeoffChart } from "./chart.js";
import { choice, el, errorPlace, field, named, percent } from "./elements.js";
import { ask, Cancelled, follow } from "./server.js";
import { changed, model, only, session } from "./session.js";
import { current, takeWeights } from "./tune.js";

/** Mount the step; returns what to do when it comes into view. */
export function mountCompare(root) {
  const error = errorPlace();
  const controls = el("div", { class: "fields" });
  const result = el("div", { class: "comparison" });
  const state = { label: null };
  root.append(el("div", { class: "card" }, el("h2", {}, "Which model for which trade-off?"),
    el("p", { class: "lead" }, "Each curve shows the best that a model’s votes offer for one class at every recall weight: 0 cares about precision alone, 1 about recall alone. The line is your preferences."),
    controls, error, result));
  const update = async () => {
    const one = model();
    const classes = one?.classes ?? [];
    if (!classes.includes(state.label)) state.label = first(one);
    const again = (label) => ((state.label = label), update());
    controls.replaceChildren(...(one ? [field("Class", choice(classes.map((label) => [label, label]), state.label, again, { id: "compare-class" })),
      session.models.length > 1 ? tuneAll(error, update) : el("p", { class: "quiet-text" }, "Load a second model, or a second set of columns, to compare.")] : []));
    if (!one) return result.replaceChildren(el("p", { class: "quiet-text" }, "Load a model first."));
    try {
      error.show("");
      const preferences = current()?.preferences ?? session.preferences;
      const metric = preferences?.metric ?? "kulczynski";
      const found = await follow(await ask("POST", "/api/compare", { label: state.label, metric }));
      if (found.label === state.label) draw(result, found, preferences);
    } catch (problem) {
      if (!(problem instanceof Cancelled)) error.show(problem.message);
    }
  };
  changed(() => !root.hidden && update());
  return update;
}

/** The class that matters most, else the rarest. */
function first(one) {
  if (!one) return null;
  const preferences = current()?.preferences ?? session.preferences;
  const importance = (label) => preferences?.classes.find((each) => each.label === label)?.importance ?? 1;
  const places = one.classes.map((label, place) => ({ label, importance: importance(label), support: one.support[place] }));
  return places.sort((a, b) => b.importance - a.importance || a.support - b.support)[0].label;
}

function tuneAll(error, update) {
  const button = el("button", { type: "button", class: "primary", onclick: async () => {
    const preferences = current()?.preferences ?? session.preferences;
    if (!preferences) return error.show("Set preferences in step 2 first.");
    button.disabled = true;
    try {
      const found = []; // one after the other: browsers keep few connections, and the page needs some of them
      for (const one of session.models) found.push([one, await follow(await ask("POST", `/api/models/${one.id}/tune`, { preferences: only(preferences, one) }))]);
      losses = new Map(found.map(([one, result]) => [one.name, result]));
      for (const [one, result] of found) takeWeights(one.id, result);
    } catch (problem) {
      if (!(problem instanceof Cancelled)) error.show(problem.message);
    }
    button.disabled = false;
    return update();
  } }, "Tune every model to the preferences");
  return button;
}

let losses = new Map();

function draw(root, found, preferences) {
  const mine = preferences?.classes.find((one) => one.label === found.label);
  const rows = found.curves.map((curve, place) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: `key line-${place % 8}` }), named(curve.name)),
    el("td", {}, curve.area === null ? "–" : curve.area.toFixed(4)),
    el("td", {}, percent(curve.share)),
    el("td", {}, percent(curve.at.recall)), el("td", {}, percent(curve.at.precision)),
    el("td", {}, losses.get(curve.name)?.loss?.toFixed(4) ?? "–")));
  root.replaceChildren(
    el("p", { class: "verdict" }, el("bdi", {}, found.verdict)),
    tradeoffChart(found, mine ?? null),
    el("div", { class: "scroll" }, el("table", { class: "numbers" },
      el("thead", {}, el("tr", {}, ["Model", "Area", "Best for", "Recall now", "Precision now", "Loss when tuned"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows))),
    el("p", { class: "quiet-text" }, "Area: the mean value over all recall weights. Best for: the share of recall weights at which the model is best. Now: with the weights that hold at present."));
}
