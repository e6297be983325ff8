// Buttons: reset, copy the preferences as TOML or the line of Python, download the weights.

import { toDecision, toPython, toToml } from "./preferences.js";
import { make, say } from "./elements.js";

async function copy(text, box) {
  box.value = text;
  box.hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    box.focus();
    box.select();
    return document.execCommand("copy");
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Return the buttons; `state` gives the present state, `reset` goes back to the first one. */
export function actionBar(state, reset) {
  const said = make("span", { class: "cp-said", role: "status", "aria-live": "polite" });
  const box = make("textarea", { class: "cp-copied", readonly: true, rows: 6, hidden: true, "aria-label": "What was copied" });
  const button = (text, action) => {
    const node = make("button", { type: "button" }, text);
    node.addEventListener("click", action);
    return node;
  };
  const copying = (what, write) => async () => say(said, (await copy(write(state()), box)) ? `${what} copied.` : "Press Ctrl+C to copy.");
  const writable = state().preferences.classes.every((one) => one.toml !== null);
  const files = writable
    ? [
        button("Copy preferences (TOML)", copying("Preferences", (now) => toToml(now.preferences))),
        button("Copy Python", copying("Python line", toPython)),
        button("Download weights", () => {
          download("weights.json", toDecision(state()));
          say(said, "Weights written to weights.json.");
        }),
      ]
    : [make("span", { class: "cp-note" }, "The labels are neither text nor numbers, so a file cannot hold them.")];
  const undo = button("Reset", () => {
    reset();
    box.hidden = true;
    say(said, "Back to the first preferences.");
  });
  return make("div", { class: "cp-actions" }, undo, ...files, said, box);
}
