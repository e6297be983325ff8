// Step 4: save files into the folder that the command line named, and open preferences.

import { errorMessage, field, named, size } from "./elements.js";
import { make } from "./panel.js";
import { ask, follow, on } from "./server.js";
import { model, session } from "./session.js";
import { current, settled, takePreferences } from "./tune.js";

const KINDS = [
  ["report", ".html", "Report", "One page to send around: it works without the studio, and holds counts but no rows."],
  ["preferences", ".toml", "Preferences", "What matters, to use again here (Open preferences), in ‘compromis tune --preferences’ or in Python."],
  ["weights", ".json", "Weights", "The decision, to put into a program: ‘compromis report --weights’ and ‘compromis check --weights’, or cp.Decision.from_json in Python."],
];

/** Mount the step; `opened` is called after a preferences file was read. */
export function mountSave(root, opened) {
  const folder = make("p", { class: "lead" });
  const forms = KINDS.map(saveForm);
  const error = errorMessage();
  const empty = make("p", { class: "quiet-text" }, "Load a model first.");
  const list = make("div", { class: "saves" }, forms);
  root.append(
    make("div", { class: "card" }, make("h2", {}, "Save"), folder, empty, list),
    make("div", { class: "card" }, make("h2", {}, "Open preferences"),
      make("p", { class: "lead" }, "A TOML file that was saved here or written by hand."), opener(error, opened), error));
  on("changed", () => {
    folder.replaceChildren("Files go into ", make("code", {}, session.folder), ".");
    empty.hidden = model() !== null;
    list.hidden = model() === null;
  });
}

function saveForm([kind, suffix, title, hint]) {
  const error = errorMessage();
  const done = make("p", { class: "done", role: "status" });
  const name = make("input", { oninput: () => (error.show(""), done.replaceChildren(), (again.hidden = true)), type: "text", value: `${kind}${suffix}`, required: true, id: `name-${kind}` });
  const again = make("button", { type: "button", id: `replace-${kind}`, hidden: true, onclick: () => run(true) }, "Replace it");
  const button = make("button", { type: "submit", class: "primary", id: `save-${kind}` }, "Save");
  const run = async (replace) => {
    error.show("");
    done.textContent = "";
    again.hidden = true;
    button.disabled = true;
    try {
      await settled();
      const now = current();
      if (!now) throw new Error("Open step 2 first: the panel holds what is saved.");
      const saved = await follow(await ask("POST", "/api/save", { ...now, kind, name: name.value, replace }));
      done.replaceChildren("Saved: ", named(saved.path), ` (${size(saved.bytes)}). `, make("a", { href: saved.link, target: "_blank", rel: "noopener" }, `Open the ${title.toLowerCase()}`));
    } catch (problem) {
      error.show(problem.message);
      again.hidden = problem.kind !== "NameTaken";
    }
    button.disabled = false;
  };
  return make("form", { class: "save", onsubmit: (event) => (event.preventDefault(), run(false)) },
    field(title, name), button, again, make("small", {}, hint), error, done);
}

function opener(error, opened) {
  const input = make("input", { type: "file", id: "toml", accept: ".toml", class: "visually-hidden", onchange: async () => {
    const [file] = input.files;
    if (!file) return;
    try {
      error.show("");
      if (file.size > 1e6) throw new Error("this is too large for a preferences file");
      if (!model()) throw new Error("load a model first: preferences are for its classes");
      takePreferences(await ask("POST", "/api/preferences", { toml: await file.text(), model: model().id }));
      opened();
    } catch (problem) {
      error.show(`${file.name}: ${problem.message}`);
    }
    input.value = "";
  } });
  return make("div", {}, input, make("label", { for: "toml", class: "button" }, "Choose a TOML file"));
}
