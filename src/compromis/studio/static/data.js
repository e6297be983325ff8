// Step 1: choose a file and its columns, and load models.

import { choice, errorMessage, field, named, size, spelled } from "./elements.js";
import { count, make } from "./panel.js";
import { ask, Cancelled, on } from "./server.js";
import { choose, load, refresh, send, session } from "./session.js";

const HAND = "by hand";
const ALL = "all";

/** Mount the step; `loaded` is called when models were loaded. */
export function mountData(root, loaded) {
  const files = make("ul", { class: "files" });
  const filesError = errorMessage();
  const form = make("div", { class: "card columns", hidden: true });
  const models = make("div", { class: "card", hidden: true });
  const open = (source) => openColumns(form, source, loaded).catch((error) => filesError.show(error.message));
  root.append(
    make("div", { class: "card" },
      make("h2", {}, "Load votes or probabilities"),
      make("p", { class: "lead" }, "A table with the true class of each row and one column of votes or probabilities per class, from a model that did not see these rows; or a model that ‘compromis fit’ wrote, and a table to try it on."),
      dropZone(filesError, open), filesError, files),
    form, models);
  let opened = false;
  on("changed", () => {
    const unreadable = session.unreadable.map((name) => make("li", {}, make("span", { class: "file" }, named(name), make("small", {}, "you may not read this file"))));
    files.replaceChildren(...session.sources.map((source) => fileLine(source, open, filesError)), ...unreadable);
    showModels(models, loaded);
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
    return make("li", {}, make("span", { class: "file" }, named(source.name), facts));
  }
  return make("li", {}, make("button", { type: "button", class: "file", onclick: () => (error.show(""), open(source)) }, named(source.name), facts));
}

function showModels(card, loaded) {
  card.hidden = !session.models.length;
  const row = (model) => make("tr", {},
    make("th", { scope: "row" }, named(model.name)),
    [model.rows, model.patterns, model.classes.length].map((number) => make("td", {}, count(number))),
    make("td", { class: "quiet-text" }, notes(model)),
    make("td", { class: "buttons" },
      make("button", { type: "button", onclick: () => (choose(model.id), loaded()) }, "Tune"),
      make("button", { type: "button", class: "quiet", "aria-label": `Remove ${model.name}`, onclick: async () => {
        await ask("POST", `/api/models/${model.id}/remove`);
        await refresh();
      } }, "Remove")));
  const head = ["Model", "Rows", "Patterns", "Classes", "", ""].map((text) => make("th", { scope: "col" }, text));
  card.replaceChildren(make("h2", {}, "Loaded models"),
    make("div", { class: "scroll" }, make("table", { class: "models" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, session.models.map(row)))));
}

const notes = (model) => [[model.dropped, "rows without a class left out"], [model.left_out, "rows without any vote left out"]]
  .filter(([rows]) => rows).map(([rows, text]) => `${count(rows)} ${text}`).join("; ");

async function openColumns(card, source, loaded) {
  const preview = await ask("GET", `/api/sources/${source.id}`);
  const error = errorMessage();
  const votes = make("div", { class: "votes" });
  const state = { preview, source, truth: preview.truth, from: "", set: "", dropMissing: false };
  const showVotes = () => votes.replaceChildren(...voteFields(state, showVotes));
  const setTruth = async (name) => {
    state.truth = name;
    try {
      Object.assign(preview, await ask("POST", `/api/sources/${source.id}/sets`, { truth: name }));
      state.set = "";
      showVotes();
    } catch (problem) {
      error.show(problem.message);
    }
  };
  const button = make("button", { type: "submit", class: "primary" }, "Load");
  const form = make("form", { onsubmit: async (event) => {
    event.preventDefault();
    error.show("");
    button.disabled = true;
    try {
      for (const recipe of recipesOf(state)) await load(recipe);
      loaded();
    } catch (problem) {
      error.show(problem.message);
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
  card.hidden = false;
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
  if (state.from) return [...fields, nameField(state, fitted.find(({ id }) => id === state.from).name)];
  state.set ||= sets.length > 1 ? ALL : sets.length ? "0" : HAND;
  const pairs = sets.map((set, i) => [String(i), `${title(set)} (${Object.keys(set.votes).length} classes)`]);
  if (sets.length > 1) pairs.unshift([ALL, `all ${sets.length} sets, a model each`]);
  fields.push(field("Votes", choice([...pairs, [HAND, "choose columns by hand"]], state.set, (value) => ((state.set = value), again()), { id: "votes" })));
  if (state.set === HAND) fields.push(...handFields(state));
  if (state.set !== ALL) fields.push(nameField(state, state.set === HAND ? state.source.name : bare(sets[Number(state.set)].prefix) || state.source.name));
  return fields;
}

const title = (set) => (set.prefix ? `columns ${set.prefix}…` : "columns named as the classes");
const bare = (prefix) => prefix.replace(/[\s_.:-]+$/, "");

function nameField(state, proposal) {
  state.name = proposal;
  return field("Name of the model", make("input", { type: "text", id: "name", value: proposal, maxlength: 1000, required: true, oninput: (event) => (state.name = event.target.value) }));
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
  if (state.set === ALL) return sets.map((set) => recipe(bare(set.prefix) || source.name, set.votes));
  if (state.set !== HAND) return [recipe(state.name, sets[Number(state.set)].votes)];
  return [recipe(state.name, Object.fromEntries(state.picked), state.picked.size === 1 ? { rest: state.rest } : {})];
}
