// What matters: asked by choices between results, or by two questions; the sliders of the panel stay.

import { errorMessage, named } from "./elements.js";
import { count, make } from "./panel.js";
import { ask, Cancelled, follow } from "./server.js";
import { term } from "./terms.js";

const MOST_CLASSES = 8;
const KEPT = "compromis-choices";

/** Return the card that asks: {node, show(model, preferences)}; `told` gets preferences as the server writes them. */
export function askCard(told) {
  const error = errorMessage();
  const place = make("div", { class: "asked" });
  const said = make("span", { class: "quiet-text" });
  const node = make("details", { class: "card ask", hidden: true }, make("summary", {}, make("h2", {}, "What matters to you?"), said), place, error);
  const state = { model: null, classes: [], answers: [], metric: "f" };

  const guarded = (work) => async (...given) => {
    error.show("");
    try {
      await work(...given);
    } catch (problem) {
      if (!(problem instanceof Cancelled)) error.show(problem.message);
    }
  };
  const keep = () => sessionStorage.setItem(KEPT, JSON.stringify([state.model.name, state.classes, state.answers]));
  const forget = () => sessionStorage.removeItem(KEPT);

  /** Ask the server for the question after `answers`, which count once it is there; what is known so far is tuned to at once. */
  const next = guarded(async (answers) => {
    const { model: { id }, classes, metric } = state;
    state.wanted = answers;
    const now = await follow(await ask("POST", `/api/models/${id}/interview`, { classes, answers, metric }));
    if (id !== state.model.id || answers !== state.wanted) return;
    state.answers = answers;
    keep();
    if (now.preferences && answers.length) told(now.preferences);
    showQuestion(now);
  });

  function showQuestion(now) {
    const { answers } = state;
    const answer = (one) => next([...answers, one]); // of this question, however often its buttons are pressed
    const { question, known, most } = now;
    const bars = make("div", { class: "known", role: "status" }, known.map(knownBar));
    const back = make("button", { type: "button", onclick: () => next(answers.slice(0, -1)), disabled: !answers.length }, "Back");
    const others = make("button", { type: "button", class: "quiet", onclick: start }, "Ask in another way");
    if (!question) {
      place.replaceChildren(make("p", { class: "done-line" }, known.length ? "Thank you. The result above and the sliders below follow your choices." : "There is nothing to choose here: the model reaches one best result, whatever matters."), bars, make("div", { class: "actions" }, back, others));
      return place.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
    }
    const heading = make("p", { class: "question", id: "question" }, make("b", {}, "Which of these two results would you rather have?"), make("span", { class: "quiet-text" }, ` Question ${question.number} of at most ${most}`));
    const asking = place.contains(document.activeElement); // not after a reload, where nobody has answered yet
    const sides = question.sides.map((side, i) => sideButton(side, i, () => answer(["first", "second"][i])));
    place.replaceChildren(heading, make("div", { class: "sides", role: "group", "aria-labelledby": "question", onkeydown: (event) => event.repeat && event.preventDefault() }, sides),
      make("div", { class: "actions" }, make("button", { type: "button", onclick: () => answer("alike") }, "They are alike to me"), back,
        make("button", { type: "button", onclick: finish, disabled: !known.length }, "That is enough"), others), bars);
    if (asking) sides[0].focus({ preventScroll: true });
  }

  function finish() {
    node.open = false;
    forget();
  }

  /** Let a person choose the classes, and how they want to be asked. */
  function start() {
    forget();
    Object.assign(state, { answers: [], wanted: null });
    const { classes, support } = state.model;
    const ordered = classes.map((label, k) => ({ label, rows: support[k] })).filter(({ rows }) => rows > 0).sort((a, b) => a.rows - b.rows);
    const ticks = ordered.slice(0, 60).map(({ label, rows }, i) => {
      const box = make("input", { type: "checkbox", value: label, checked: state.classes.length ? state.classes.includes(label) : i === 0 });
      return { box, node: make("label", { class: "chip" }, box, named(label), make("small", {}, `${count(rows)} rows`)) };
    });
    const chosen = () => ticks.filter(({ box }) => box.checked).map(({ box }) => box.value);
    const begin = (mode) => guarded(async () => {
      state.classes = chosen();
      if (!state.classes.length || state.classes.length > MOST_CLASSES) throw new Error(`choose 1 to ${MOST_CLASSES} classes`);
      await mode();
    });
    place.replaceChildren(
      make("fieldset", { class: "chips" }, make("legend", {}, "Which classes would hurt most to get wrong?"), ticks.map((tick) => tick.node)),
      make("div", { class: "actions" },
        make("button", { type: "button", class: "primary", id: "by-choices", onclick: begin(() => next([])) }, "Ask me by choices"),
        make("button", { type: "button", id: "by-questions", onclick: begin(async () => showQuestions()) }, "Ask me two questions"),
        make("span", { class: "quiet-text" }, "or move the sliders below.")));
  }

  /** The direct questions: a bound first, then the two answers. */
  function showQuestions() {
    const rows = state.classes.map((label) => ({ label, ...questionsFor(label) }));
    const form = make("form", { onsubmit: (event) => {
      event.preventDefault();
      return guarded(async () => {
        const many = state.model.classes.length === 2 ? 1 : 10;
        told({ metric: state.metric, cost: null, classes: rows.map(({ label, read }) => ({ label, importance: many, ...read() })) });
        finish();
      })();
    } }, rows.map((row) => row.node), make("div", { class: "actions" },
      make("button", { type: "submit", class: "primary" }, "Tune to these answers"),
      make("button", { type: "button", class: "quiet", onclick: start }, "Ask in another way")));
    place.replaceChildren(form);
    form.querySelector("input").focus({ preventScroll: true });
  }

  return {
    node,
    show(model, preferences) {
      node.hidden = !model;
      if (!model || (state.model?.id === model.id && state.model?.name === model.name)) return;
      const [name, classes, answers] = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
      const matters = preferences?.classes.filter(({ importance }) => importance > 1).map(({ label }) => label) ?? [];
      Object.assign(state, { model, classes: matters.filter((label) => model.classes.includes(label)), answers: [], metric: preferences?.metric ?? "f" });
      error.show("");
      said.textContent = preferences ? "Answered; open to be asked again." : "Answer a few questions, and the result follows.";
      node.open = !preferences;
      if (name === model.name && classes.every((label) => model.classes.includes(label))) {
        Object.assign(state, { classes, answers });
        node.open = true;
        next(answers);
      } else start();
    },
  };
}

/** Return one side of a question as a button: what a result means for each class in which the two differ. */
function sideButton(side, i, chosen) {
  const lines = side.map((one) => make("span", { class: "side-class" },
    side.length > 1 ? named(one.label) : null,
    make("span", { class: "side-number" }, make("b", {}, `finds ${count(one.found)}`), ` of ${count(one.of)} `, side.length > 1 ? null : named(one.label), ` (misses ${one.missed ? count(one.missed) : "none"})`),
    meter(one.found / one.of, "found"),
    make("span", { class: "side-number" }, make("b", {}, one.false_alarms ? count(one.false_alarms) : "no"), ` false alarm${one.false_alarms === 1 ? "" : "s"}`),
    meter(one.false_alarms / Math.max(1, one.false_alarms + one.found), "alarms")));
  return make("button", { type: "button", class: "side", onclick: (event) => event.detail > 1 || chosen() }, make("span", { class: "side-name" }, `Result ${i + 1}`), lines);
}

function meter(fraction, kind) {
  const fill = make("span", { class: `fill ${kind}` });
  fill.style.width = `${(100 * Math.min(1, fraction)).toFixed(1)}%`;
  return make("span", { class: "side-bar", "aria-hidden": "true" }, fill);
}

/** Return what is known of one number: the range where it may lie, and where most likely. */
function knownBar({ name, value, low, high, shares, topic }) {
  const fine = topic === "recall weight" && Math.min(low, 1 - high) < 0.095; // near 0 and 1 two digits tell nothing apart
  const digits = (number) => (topic === "recall weight" ? number.toFixed(fine ? 3 : 2) : Number(number.toPrecision(2)).toString());
  const range = make("span", { class: "range" }), mark = make("span", { class: "mark" });
  range.style.left = `${100 * shares[0]}%`;
  range.style.width = `${100 * (shares[2] - shares[0])}%`;
  mark.style.left = `${100 * shares[1]}%`;
  return make("div", { class: "known-line" }, term(topic, name), make("span", { class: "track", "aria-hidden": "true" }, range, mark),
    make("span", { class: "quiet-text" }, `${digits(value)}, probably between ${digits(low)} and ${digits(high)}`));
}

/** Return the questions for a class: {node, read()}; shares may be written as 0.95, 95 % or 95, and F2 stands for both answers. */
function questionsFor(label) {
  const input = (attributes) => make("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...attributes });
  const least = input({ placeholder: "no bound" });
  const precision = input({ value: "80 %" });
  const recall = input({ value: "80 %" });
  const line = (text, explained, control) => make("div", { class: "direct" }, make("label", { class: "field" }, make("span", {}, text), control), term(explained, ""));
  return {
    node: make("fieldset", { class: "direct-class" }, make("legend", {}, named(label)),
      line("What share of them must be found at least?", "recall", least),
      line("If all of them were found: how many of 100 alarms must be right?", "precision at full recall", precision),
      line("If no alarm were false: how many of 100 must be found?", "recall at full precision", recall)),
    read() {
      const named = /^f_?(\d+(?:\.\d+)?)$/i.exec(precision.value.trim());
      const answers = named ? { recall_weight: named[1] ** 2 / (1 + named[1] ** 2) } : { precision_at_full_recall: share(precision.value, 0.9999), recall_at_full_precision: share(recall.value, 0.9999) };
      const bound = least.value.trim() ? share(least.value, 1) : null;
      return bound === null ? answers : { ...answers, min_recall: bound };
    },
  };
}

/** Read a share as people write it. */
function share(text, most) {
  const number = Number(text.replace("%", "").trim().replace(/^$/, "NaN"));
  const value = text.includes("%") || number > 1 ? number / 100 : number;
  if (!(value >= 0 && value <= most)) throw new Error(`a share is written as 0.95, 95 % or 95, and F2 for ‘recall counts twice’; got ‘${text}’`);
  return value;
}
