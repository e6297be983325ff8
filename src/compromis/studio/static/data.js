// Step 1: choose a file, say which columns hold what, load.

import { choice, el, errorPlace, field, named, size, spelled } from "./elements.js";
import { ask, Cancelled } from "./server.js";
import { changed, choose, load, refresh, send, session } from "./session.js";

const HAND = "by hand";
const ALL = "all";

/** Mount the step; `loaded` is called when models came in. */
export function mountData(root, loaded) {
  const files = el("ul", { class: "files" });
  const filesError = errorPlace();
  const form = el("div", { class: "card columns", hidden: true });
  const models = el("div", { class: "card", hidden: true });
  const open = (source) => openColumns(form, source, loaded).catch((error) => filesError.show(error.message));
  root.append(
    el("div", { class: "card" },
      el("h2", {}, "Load votes or probabilities"),
      el("p", { class: "lead" }, "A table with the true class of each row and one column of votes or probabilities per class, from a model that did not see these rows; or a model that ‘compromis fit’ wrote, and a table to try it on."),
      dropZone(filesError, open), filesError, files),
    form, models);
  let opened = false;
  changed(() => {
    files.replaceChildren(...session.sources.map((one) => fileLine(one, open, filesError)));
    showModels(models, loaded);
    const tables = session.sources.filter((one) => one.kind === "table");
    if (!opened && !session.models.length && tables.length === 1) open(tables[0]);
    opened = true;
  });
}

function dropZone(error, open) {
  const input = el("input", { type: "file", id: "file", class: "visually-hidden", onchange: () => take([...input.files]) });
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
  const zone = el("div", { class: "drop" },
    input, el("label", { for: "file", class: "button primary" }, "Choose a file"),
    el("span", {}, "or drop it here: CSV, TSV, ARFF, Parquet (also .gz), or a model"));
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
  const facts = el("small", {}, `${source.kind === "model" ? "fitted model · " : ""}${size(source.size)}`);
  if (source.kind === "model") {
    return el("li", {}, el("span", { class: "file" }, named(source.name), facts));
  }
  return el("li", {}, el("button", { type: "button", class: "file", onclick: () => (error.show(""), open(source)) }, named(source.name), facts));
}

function showModels(card, loaded) {
  card.hidden = !session.models.length;
  const row = (one) => el("tr", {},
    el("th", { scope: "row" }, named(one.name)),
    el("td", {}, one.rows.toLocaleString("en")),
    el("td", {}, one.patterns.toLocaleString("en")),
    el("td", {}, String(one.classes.length)),
    el("td", { class: "quiet-text" }, notes(one)),
    el("td", { class: "buttons" },
      el("button", { type: "button", onclick: () => (choose(one.id), loaded()) }, "Tune"),
      el("button", { type: "button", class: "quiet", "aria-label": `Remove ${one.name}`, onclick: async () => {
        await ask("POST", `/api/models/${one.id}/remove`);
        await refresh();
      } }, "Remove")));
  card.replaceChildren(el("h2", {}, "Loaded models"),
    el("div", { class: "scroll" }, el("table", { class: "models" },
      el("thead", {}, el("tr", {}, ["Model", "Rows", "Patterns", "Classes", "", ""].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, session.models.map(row)))));
}

function notes(one) {
  const said = [];
  if (one.dropped) said.push(`${one.dropped.toLocaleString("en")} rows without a class left out`);
  if (one.left_out) said.push(`${one.left_out.toLocaleString("en")} rows without any vote left out`);
  return said.join("; ");
}

async function openColumns(card, source, loaded) {
  const found = await ask("GET", `/api/sources/${source.id}`);
  const error = errorPlace();
  const votes = el("div", { class: "votes" });
  const state = { found, source, truth: found.truth, from: "", set: "", dropMissing: false };
  const showVotes = () => votes.replaceChildren(...voteFields(state, showVotes));
  const setTruth = async (name) => {
    state.truth = name;
    try {
      Object.assign(found, await ask("POST", `/api/sources/${source.id}/sets`, { truth: name }));
      state.set = "";
      showVotes();
    } catch (problem) {
      error.show(problem.message);
    }
  };
  const button = el("button", { type: "submit", class: "primary" }, "Load");
  const form = el("form", { onsubmit: async (event) => {
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
  el("div", { class: "fields" },
    field("True class", choice(found.columns.map((name) => [name, name]), found.truth, setTruth, { id: "truth" })),
    votes),
  el("label", { class: "tick" }, el("input", { type: "checkbox", onchange: (event) => (state.dropMissing = event.target.checked) }), "Leave out rows without a class"),
  el("div", { class: "actions" }, button, error));
  showVotes();
  card.replaceChildren(el("h2", {}, "Which columns? ", named(source.name)), preview(found), form);
  card.hidden = false;
  if (session.eager && !session.models.length) form.requestSubmit();
  else card.scrollIntoView({ block: "nearest" });
}

function preview(found) {
  const cell = (value) => el("td", { title: spelled(value ?? "") }, value === null ? el("i", {}, "missing") : el("bdi", {}, spelled(value)));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The first rows" }, el("table", { class: "preview" },
    el("thead", {}, el("tr", {}, found.columns.map((name) => el("th", { scope: "col" }, named(name))))),
    el("tbody", {}, found.rows.map((row) => el("tr", {}, row.map(cell))))));
}

function voteFields(state, again) {
  const { found } = state;
  const fitted = session.sources.filter((one) => one.kind === "model");
  const shown = [];
  if (fitted.length) {
    const pairs = [["", "columns of this file"], ...fitted.map((one) => [one.id, `the model ${one.name}`])];
    shown.push(field("Votes come from", choice(pairs, state.from, (value) => ((state.from = value), again()), { id: "from" })));
  }
  if (state.from) return [...shown, nameField(state, fitted.find((one) => one.id === state.from).name)];
  state.set ||= found.sets.length > 1 ? ALL : found.sets.length ? "0" : HAND;
  const pairs = found.sets.map((set, place) => [String(place), `${title(set)} (${Object.keys(set.votes).length} classes)`]);
  if (found.sets.length > 1) pairs.unshift([ALL, `all ${found.sets.length} sets, a model each`]);
  shown.push(field("Votes", choice([...pairs, [HAND, "choose columns by hand"]], state.set, (value) => ((state.set = value), again()), { id: "votes" })));
  if (state.set === HAND) shown.push(...handFields(state));
  if (state.set !== ALL) shown.push(nameField(state, state.set === HAND ? state.source.name : bare(found.sets[Number(state.set)].prefix) || state.source.name));
  return shown;
}

const title = (set) => (set.prefix ? `columns ${set.prefix}…` : "columns named as the classes");
const bare = (prefix) => prefix.replace(/[\s_.:-]+$/, "");

function nameField(state, proposal) {
  state.name = proposal;
  return field("Name of the model", el("input", { type: "text", id: "name", value: proposal, maxLength: 1000, required: true, oninput: (event) => (state.name = event.target.value) }));
}

function handFields(state) {
  const names = state.found.numeric.filter((name) => name !== state.truth);
  state.picked = new Map();
  const rest = el("div");
  const showRest = () => rest.replaceChildren(...(state.picked.size === 1 ? [restField(state)] : []));
  const line = (name) => {
    const label = el("input", { type: "text", disabled: true, "aria-label": `Class of ${name}`, oninput: () => state.picked.set(name, label.value) });
    const tick = el("input", { type: "checkbox", onchange: () => {
      label.disabled = !tick.checked;
      if (tick.checked) state.picked.set(name, (label.value ||= guess(name, state.found.classes)));
      else state.picked.delete(name);
      showRest();
    } });
    return el("div", { class: "pick" }, el("label", { class: "tick" }, tick, named(name)), el("span", {}, "votes for"), label);
  };
  return [el("fieldset", { class: "hand" }, el("legend", {}, "Columns of votes, and the class of each"),
    names.length ? names.map(line) : el("p", {}, "No column holds numbers of at least 0 only."), rest)];
}

/** The class whose name a column ends with, the longest if there are several. */
const guess = (name, classes) => classes.filter((label) => name.endsWith(label)).sort((a, b) => b.length - a.length)[0] ?? name;

function restField(state) {
  const own = [...state.picked.values()][0];
  const others = state.found.classes.filter((label) => label !== own);
  state.rest = others[0] ?? null;
  return field("The other class", choice(others.map((label) => [label, label]), state.rest, (value) => (state.rest = value)), "one column holds the probability of its class; the rest of 1 is for this one");
}

function recipesOf(state) {
  const { found, source, truth } = state;
  const recipe = (name, votes, extra = {}) => ({ source: source.id, name, columns: { truth, votes, drop_missing: state.dropMissing, ...extra } });
  if (state.from) return [{ ...recipe(state.name, {}), model: state.from }];
  if (state.set === ALL) return found.sets.map((set) => recipe(bare(set.prefix) || source.name, set.votes));
  if (state.set !== HAND) return [recipe(state.name, found.sets[Number(state.set)].votes)];
  return [recipe(state.name, Object.fromEntries(state.picked), state.picked.size === 1 ? { rest: state.rest } : {})];
}
