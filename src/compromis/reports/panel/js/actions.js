// Preferences and weights as text, and the buttons that copy and download it.

import { make, setText } from "./elements.js";

const FIELDS = ["importance", "precision_at_full_recall", "recall_at_full_precision", "recall_weight", "min_precision", "min_recall", "max_share", "confidence"];

const BOUNDS = ["min_precision", "min_recall", "max_share", "confidence"];
const given = (preference, costs) => (costs ? BOUNDS : FIELDS).filter((name) => preference[name] != null);
const float = (number) => (Number.isInteger(number) ? `${number}.0` : String(number));
const assignments = (preference, sign, costs = false) => given(preference, costs).map((name) => `${name}${sign}${float(preference[name])}`);

/** Return the most common preference, null if every class differs, and the classes that differ from it. */
function splitDefault({ cost, classes }) {
  const keys = classes.map((preference) => assignments(preference, "=", Boolean(cost)).join());
  const times = new Map();
  for (const key of keys) times.set(key, (times.get(key) || 0) + 1);
  const [common, most] = [...times].sort((a, b) => b[1] - a[1])[0];
  if (most === 1) return { usual: null, special: classes };
  return { usual: classes[keys.indexOf(common)], special: classes.filter((_, k) => keys[k] !== common) };
}

/** Return the preferences as the TOML that compromis.Preferences.from_toml reads. */
export function toToml(preferences) {
  const { usual, special } = splitDefault(preferences);
  const { cost, classes } = preferences;
  const tables = special.map((preference) => ["[[class]]", `label = ${preference.toml}`, ...assignments(preference, " = ", Boolean(cost))]);
  if (usual) tables.unshift(["[default]", ...assignments(usual, " = ", Boolean(cost))]);
  if (cost) tables.unshift(["[cost]", `labels = [${classes.map(({ toml }) => toml).join(", ")}]`, `matrix = ${matrixText(cost)}`]);
  return [[`metric = "${preferences.metric}"`], ...tables].map((lines) => lines.join("\n")).join("\n\n") + "\n";
}

const matrixText = (cost) => `[${cost.map((row) => `[${row.map(float).join(", ")}]`).join(", ")}]`;
const pythonPreference = (preference, costs) => `cp.Preference(${assignments(preference, "=", costs).join(", ")})`;

/** Return the line of Python that finds the weights of a state from y_true and y_proba. */
export function toPython({ preferences, smoothing }) {
  const { usual, special } = splitDefault(preferences);
  const { cost } = preferences;
  const byClass = special.map((preference) => `${preference.python}: ${pythonPreference(preference, Boolean(cost))}`).join(", ");
  const usually = usual ? `, default=${pythonPreference(usual, Boolean(cost))}` : "";
  const labels = preferences.classes.map(({ python }) => python).join(", ");
  const judged = cost ? `cost=${matrixText(cost)}, labels=[${labels}]` : `metric="${preferences.metric}"`;
  const python = `cp.Preferences({${byClass}}${usually}, ${judged})`;
  return `cp.search_weights(y_true, y_proba, labels=[${labels}], preferences=${python}${smoothing ? `, smoothing=${float(smoothing)}` : ""})`;
}

/** Return the weights as the JSON that compromis.Decision.from_json reads. */
export function toDecision(state) {
  const labels = state.preferences.classes.map(({ json }) => json).join(", ");
  const weights = Array.from(state.weights, float).join(", ");
  return (
    `{\n  "schema": "compromis/decision",\n  "version": 2,\n  "classes": [${labels}],\n` +
    `  "weights": [${weights}],\n  "smoothing": ${float(state.smoothing || 0)}\n}\n`
  );
}

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
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Return the buttons; `state` returns the present state, `reset` goes back to the first one, `link` the address that opens it, if there is one. */
export function actionBar(state, reset, tuneButton, link) {
  const message = make("span", { class: "cp-message", role: "status", "aria-live": "polite" });
  const box = make("textarea", { class: "cp-copied", readonly: true, rows: 6, hidden: true, "aria-label": "What was copied" });
  const button = (text, onclick) => make("button", { type: "button", onclick }, text);
  const copyButton = (text, name, write) => button(text, async () => {
    setText(message, (await copy(write(state()), box)) ? `${name} copied.` : "Press Ctrl+C to copy.");
  });
  const writable = state().preferences.classes.every(({ toml }) => toml !== null);
  const files = writable
    ? [
        copyButton("Copy preferences (TOML)", "Preferences", ({ preferences }) => toToml(preferences)),
        copyButton("Copy Python", "Python line", toPython),
      ]
    : [make("span", { class: "cp-note" }, "The labels are neither text nor numbers, so a file cannot hold them.")];
  const weights = writable ? button("Download weights", () => {
    download("weights.json", toDecision(state()));
    setText(message, "Weights written to weights.json.");
  }) : null;
  const resetButton = button("Reset", () => {
    reset();
    box.hidden = true;
    setText(message, "Back to the first preferences.");
  });
  const links = link ? [copyButton("Copy link", "Link to this state", link)] : [];
  return {
    node: make("div", { class: "cp-actions" }, tuneButton, resetButton, files, weights, links, message, box),
    update(known, why) {
      if (!weights) return;
      weights.disabled = !known;
      weights.title = known ? why : "The decision given has no weights; tune first.";
    },
  };
}
