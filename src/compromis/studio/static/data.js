// Step 1: choose a file and its columns, and load models.

import { choice, errorMessage, field, named, refill, size, spelled } from "./elements.js";
import { count, make } from "./panel.js";
import { ask, Cancelled, follow, on } from "./server.js";
import { choose, forget, isUploaded, load, refresh, send, session } from "./session.js";
import { term } from "./terms.js";

const HAND = "by hand";
const ALL = "all";
const FIT = "fit";
const FITTED = [["pragma-forest", "PRAGMA forest: 100 trees, usually the best"], ["logistic", "logistic regression: quick and plain"], ["c45", "C4.5: one tree that can be read"]];

/** Mount the step; `loaded` is called when models were loaded. */
export function mountData(root, loaded) {
  const files = make("ul", { class: "files" });
  const [filesError, modelsError] = [errorMessage(), errorMessage()];
  const form = make("div", { class: "card columns", hidden: true });
  const models = make("div", { class: "card", hidden: true });
  const open = (source) => openColumns(form, source, loaded).catch((error) => filesError.show(error instanceof Cancelled ? "" : error.message));
  root.append(
    make("div", { class: "card" },
      make("h2", {}, "Load a table"),
      make("p", { class: "lead" }, "With the true class of each row, and a model’s ", term("votes"), ": one column of votes or probabilities per class. A table without votes will do too: the studio fits a model to it. So will a model that ‘compromis fit’ wrote, with a table to try it on."),
      dropZone(filesError, open), filesError, files),
    form, models);
  let opened = false;
  on("changed", () => {
    const unreadable = session.unreadable.map((name) => make("li", {}, make("span", { class: "file" }, named(name), make("small", {}, "you may not read this file"))));
    files.replaceChildren(...session.sources.map((source) => fileLine(source, open, filesError)), ...unreadable);
    if (!session.sources.some(({ id }) => id === form.dataset.source)) form.hidden = true; // its file was removed
    showModels(models, loaded, modelsError);
    const tables = session.sources.filter(({ kind }) => kind === "table");
    if (!opened && !session.models.length && tables.length === 1) open(tables[0]);
    opened = true;
  });
}

function dropZone(error, open) {
  const input = make("input", { type: "file", id: "file", class: "visually-hidden", onchange: () => take([...input.files]) });
  const take = async (chosen) => {
    error.show("");
    for (const file of chosen) {
      try {
        const source = await send(file);
        if (source.kind === "table") await open(source);
      } catch (problem) {
        if (!(problem instanceof Cancelled)) error.show(`${file.name}: ${problem.message}`);
      }
    }
    input.value = "";
  };
  const zone = make("div", { class: "drop" },
    input, make("label", { for: "file", class: "button primary" }, "Choose a file"),
    make("span", {}, "or drop it here: CSV, TSV, ARFF, Parquet (also .gz), or a model"));
  zone.addEventListener("dragover", (event) => (event.preventDefault(), zone.classList.add("over")));
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take([...event.dataTransfer.files]);
  });
  return zone;
}

function fileLine(source, open, error) {
  const facts = make("small", {}, `${source.kind === "model" ? "fitted model · " : ""}${size(source.size)}`);
  if (source.kind === "model") {
    return make("li", {}, make("span", { class: "file" }, named(source.name), facts, make("small", {}, "Choose the table to try it on.")), remover(source, error));
  }
  return make("li", {}, make("button", { type: "button", class: "file", onclick: () => (error.show(""), open(source)) }, named(source.name), facts), remover(source, error));
}

/** Return a button that removes an uploaded file; files that were named at the start stay. */
function remover(source, error) {
  return isUploaded(source) ? make("button", { type: "button", class: "quiet remove", "aria-label": `Remove the file ${source.name}`, title: "Remove", onclick: () => forget(source).then(() => error.show(""), (problem) => error.show(problem.message)) }, "×") : null;
}

function showModels(card, loaded, error) {
  card.hidden = !session.models.length;
  const row = (model) => make("tr", {},
    make("th", { scope: "row" }, named(model.name)),
    [model.rows, model.patterns, model.classes.length].map((number) => make("td", {}, count(number))),
    make("td", { class: "quiet-text" }, notes(model)),
    make("td", { class: "buttons" },
      make("button", { type: "button", onclick: () => (choose(model.id), loaded()) }, "Tune"),
      make("button", { type: "button", class: "quiet", "aria-label": `Remove ${model.name}`, onclick: async () => {
        try {
          await ask("POST", `/api/models/${model.id}/remove`);
          error.show("");
          await refresh();
        } catch (problem) {
          error.show(problem.message);
        }
      } }, "Remove")));
  const head = ["Model", "Rows", term("patterns", "Patterns"), "Classes"].map((text) => make("th", { scope: "col" }, text));
  head.push(make("td", {}), make("td", {}));
  card.replaceChildren(make("h2", {}, "Loaded models"),
    make("div", { class: "scroll" }, make("table", { class: "models" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, session.models.map(row)))), error);
}

const notes = (model) => [[model.dropped, "rows without a class left out"], [model.left_out, "rows without any vote left out"],
  [model.to_review, "rows to review, as long as the weights stay"]]
  .filter(([rows]) => rows).map(([rows, text]) => `${count(rows)} ${text}`).join("; ");

async function openColumns(card, source, loaded) {
  const look = async (truth = null) => follow(await ask("POST", `/api/sources/${source.id}/look`, { truth }));
  const reading = make("p", { class: "quiet-text", role: "status" }, "Reading ", named(source.name), " …");
  card.replaceChildren(reading); // nothing is asked about the file before, whose answers would be lost
  card.dataset.source = source.id;
  card.hidden = false;
  const preview = await look().catch((problem) => {
    if (!card.contains(reading)) return null;
    card.hidden = true;
    throw problem;
  });
  if (!card.contains(reading)) return; // another file was chosen meanwhile
  const error = errorMessage();
  const votes = make("div", { class: "votes" });
  const state = { preview, source, truth: preview.truth, from: "", set: "", dropMissing: false };
  const button = make("button", { type: "submit", class: "primary" }, "Load");
  const showVotes = () => {
    refill(votes, ...voteFields(state, showVotes));
    button.textContent = state.set === FIT && !state.from ? "Fit and load" : "Load";
  };
  const setTruth = async (name) => {
    state.truth = name;
    try {
      const seen = await look(name);
      if (state.truth !== name) return;
      error.show("");
      Object.assign(preview, seen);
      Object.assign(state, { set: "", ignored: null });
      showVotes();
    } catch (problem) {
      if (state.truth === name) error.show(problem.message);
    }
  };
  const form = make("form", { onchange: () => error.show(""), onsubmit: async (event) => {
    event.preventDefault();
    error.show("");
    button.disabled = true;
    try {
      for (const recipe of recipesOf(state)) await load(recipe);
      loaded();
    } catch (problem) {
      error.show(problem instanceof Cancelled ? "" : problem.message);
    }
    button.disabled = false;
  } },
  make("div", { class: "fields" },
    field("True class", choice(preview.columns.map((name) => [name, name]), preview.truth, setTruth, { id: "truth" })),
    votes),
  make("label", { class: "tick" }, make("input", { type: "checkbox", onchange: (event) => (state.dropMissing = event.target.checked) }), "Leave out rows without a class"),
  make("div", { class: "actions" }, button, error));
  showVotes();
  card.replaceChildren(make("h2", {}, "Which columns? ", named(source.name)), previewTable(preview), form);
  if (session.eager && !session.models.length) form.requestSubmit();
  else card.scrollIntoView({ block: "nearest" });
}

function previewTable({ columns, rows }) {
  const cell = (value) => make("td", { title: spelled(value ?? "") }, value === null ? make("i", {}, "missing") : make("bdi", {}, spelled(value)));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The first rows" }, make("table", { class: "preview" },
    make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, named(name))))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map(cell))))));
}

function voteFields(state, again) {
  const { sets } = state.preview;
  const fitted = session.sources.filter(({ kind }) => kind === "model");
  const fields = [];
  if (fitted.length) {
    const pairs = [["", "columns of this file"], ...fitted.map(({ id, name }) => [id, `the model ${name}`])];
    fields.push(field("Votes come from", choice(pairs, state.from, (value) => ((state.from = value), again()), { id: "from" })));
  }
  if (state.from) return [...fields, nameField(state, `${state.source.name}: ${fitted.find(({ id }) => id === state.from).name}`)];
  state.set ||= sets.length > 1 ? ALL : sets.length ? "0" : state.preview.fits ? FIT : HAND;
  const pairs = sets.map((set, i) => [String(i), `${title(set)} (${Object.keys(set.votes).length} classes)`]);
  if (sets.length > 1) pairs.unshift([ALL, `all ${sets.length} sets, a model each`]);
  if (state.preview.fits) pairs.push([FIT, "none: fit a model"]);
  fields.push(field("Votes", choice([...pairs, [HAND, "choose columns by hand"]], state.set, (value) => ((state.set = value), again()), { id: "votes" })));
  if (state.set === FIT) return [...fields, ...fitFields(state)];
  if (state.set === HAND) fields.push(...handFields(state));
  if (state.set !== ALL) fields.push(nameField(state, state.set === HAND ? state.source.name : setName(state, sets[Number(state.set)])));
  return fields;
}

/** Choose the kind of model to fit to a table that holds no votes. */
function fitFields(state) {
  state.fit ??= FITTED[0][0];
  return [
    field("Model", choice(FITTED, state.fit, (kind) => ((state.fit = kind), (document.getElementById("name").value = state.name = fittedName(state))), { id: "fit" })),
    nameField(state, fittedName(state)),
    ignoreField(state),
    make("p", { class: "quiet-text fit-note" }, "This table holds no votes, so a model is fitted to its other columns: five times on four fifths of the rows, to vote on the fifth that it did not see. Columns of numbers are numbers, all others are nominal. Does the table hold scores already? They are found where each class has a column, named as the class after one prefix, as in p_ill and p_well (of two classes the second score is 1 minus the first)."),
  ];
}

/** Tick the columns that a model must not learn from; those that seem to name the rows are ticked. */
function ignoreField(state) {
  state.ignored ??= new Set(state.preview.naming);
  const { ignored } = state;
  const chip = (name) => make("label", { class: "chip" }, make("input", { type: "checkbox", checked: ignored.has(name),
    onchange: (event) => (event.target.checked ? ignored.add(name) : ignored.delete(name)) }), named(name));
  return make("fieldset", { class: "chips ignored" }, make("legend", {}, "Leave out columns that name the rows, or that are not known yet when the model decides"),
    state.preview.columns.filter((name) => name !== state.truth).map(chip));
}

const fittedName = ({ source, fit }) => `${source.name}: ${fit}`;
const title = (set) => (set.prefix ? `columns ${set.prefix}…` : "columns named as the classes");
const setName = ({ source }, { prefix }) => (bare(prefix) ? `${source.name}: ${bare(prefix)}` : source.name);
const bare = (prefix) => prefix.replace(/[\s_.:-]+$/, "");

function nameField(state, proposal) {
  state.name = proposal;
  return field("Name of the model", make("input", { type: "text", id: "name", value: proposal, size: Math.min(60, Math.max(20, proposal.length + 2)), maxlength: 1000, required: true, oninput: (event) => (state.name = event.target.value) }));
}

function handFields(state) {
  const names = state.preview.numeric.filter((name) => name !== state.truth);
  state.picked = new Map();
  const rest = make("div");
  const showRest = () => rest.replaceChildren(...(state.picked.size === 1 ? [restField(state)] : []));
  const line = (name) => {
    const label = make("input", { type: "text", disabled: true, "aria-label": `Class of ${name}`, oninput: () => state.picked.set(name, label.value) });
    const tick = make("input", { type: "checkbox", onchange: () => {
      label.disabled = !tick.checked;
      if (tick.checked) state.picked.set(name, (label.value ||= guess(name, state.preview.classes)));
      else state.picked.delete(name);
      showRest();
    } });
    return make("div", { class: "pick" }, make("label", { class: "tick" }, tick, named(name)), make("span", {}, "votes for"), label);
  };
  return [make("fieldset", { class: "hand" }, make("legend", {}, "Columns of votes, and the class of each"),
    names.length ? names.map(line) : make("p", {}, "No column holds numbers of at least 0 only."), rest)];
}

/** The class whose name a column ends with, the longest if there are several. */
const guess = (name, classes) => classes.filter((label) => name.endsWith(label)).sort((a, b) => b.length - a.length)[0] ?? name;

function restField(state) {
  const own = [...state.picked.values()][0];
  const others = state.preview.classes.filter((label) => label !== own);
  state.rest = others[0] ?? null;
  return field("The other class", choice(others.map((label) => [label, label]), state.rest, (value) => (state.rest = value)), "one column holds the probability of its class; the rest of 1 is for this one");
}

function recipesOf(state) {
  const { preview: { sets }, source, truth } = state;
  const recipe = (name, votes, extra = {}) => ({ source: source.id, name, columns: { truth, votes, drop_missing: state.dropMissing, ...extra } });
  if (state.from) return [{ ...recipe(state.name, {}), model: state.from }];
  if (state.set === FIT) return [{ ...recipe(state.name, {}, { ignore: [...state.ignored] }), fit: state.fit }];
  if (state.set === ALL) return sets.map((set) => recipe(setName(state, set), set.votes));
  if (state.set !== HAND) return [recipe(state.name, sets[Number(state.set)].votes)];
  return [recipe(state.name, Object.fromEntries(state.picked), state.picked.size === 1 ? { rest: state.rest } : {})];
}
