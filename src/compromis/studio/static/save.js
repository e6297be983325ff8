// Step 4: files in the folder that the user chose on the command line.

import { el, errorPlace, field, named, size } from "./elements.js";
import { ask, follow } from "./server.js";
import { changed, model, session } from "./session.js";
import { current, takePreferences } from "./tune.js";

const KINDS = [
  ["preferences", ".toml", "Preferences", "what matters, for ‘compromis tune --preferences’ and cp.Preferences.from_toml"],
  ["weights", ".json", "Weights", "the decision, for cp.Decision.from_json"],
  ["report", ".html", "Report", "one page to send around: works without the studio, holds counts and no rows"],
];

/** Mount the step; `opened` is called after a preferences file was read. */
export function mountSave(root, opened) {
  const folder = el("p", { class: "lead" });
  const lines = KINDS.map(saveLine);
  const error = errorPlace();
  const empty = el("p", { class: "quiet-text" }, "Load a model first.");
  const list = el("div", { class: "saves" }, lines.map((one) => one.line));
  root.append(
    el("div", { class: "card" }, el("h2", {}, "Save"), folder, empty, list),
    el("div", { class: "card" }, el("h2", {}, "Open preferences"),
      el("p", { class: "lead" }, "A TOML file that was saved here or written by hand."), opener(error, opened), error));
  changed(() => {
    folder.replaceChildren("Files go into ", el("code", {}, session.folder), ". Another folder: start with --output.");
    empty.hidden = model() !== null;
    list.hidden = model() === null;
    for (const one of lines) one.update();
  });
}

function saveLine([kind, suffix, title, hint]) {
  const error = errorPlace();
  const done = el("p", { class: "done", role: "status" });
  const name = el("input", { type: "text", value: `${kind}${suffix}`, required: true, id: `name-${kind}` });
  const again = el("button", { type: "button", id: `replace-${kind}`, hidden: true, onclick: () => run(true) }, "Replace it");
  const button = el("button", { type: "submit", class: "primary", id: `save-${kind}` }, "Save");
  const run = async (replace) => {
    error.show("");
    done.textContent = "";
    again.hidden = true;
    button.disabled = true;
    try {
      const now = current();
      if (!now) throw new Error("Open step 2 first: the panel holds what is saved.");
      const saved = await follow(await ask("POST", "/api/save", { ...now, kind, name: name.value, replace }));
      done.replaceChildren("Saved: ", named(saved.path), ` (${size(saved.bytes)})`);
    } catch (problem) {
      error.show(problem.message);
      again.hidden = !problem.message.includes("or replace it");
    }
    button.disabled = false;
  };
  const line = el("form", { class: "save", onsubmit: (event) => (event.preventDefault(), run(false)) },
    field(title, name), button, again, el("small", {}, hint), error, done);
  return { line, update: () => (button.disabled = model() === null) };
}

function opener(error, opened) {
  const input = el("input", { type: "file", id: "toml", accept: ".toml", class: "visually-hidden", onchange: async () => {
    const [file] = input.files;
    if (!file) return;
    try {
      error.show("");
      if (file.size > 1e6) throw new Error("this is too large for a preferences file");
      if (!model()) throw new Error("load a model first: its classes are those that preferences are for");
      takePreferences(await ask("POST", "/api/preferences", { toml: await file.text(), model: model().id }));
      opened();
    } catch (problem) {
      error.show(`${file.name}: ${problem.message}`);
    }
    input.value = "";
  } });
  return el("div", {}, input, el("label", { for: "toml", class: "button" }, "Choose a TOML file"));
}
