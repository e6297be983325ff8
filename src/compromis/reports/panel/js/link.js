// The state of the panel in the address of a page: a link opens the same preferences and weights.

import { METRICS } from "./preferences.js";

const MARK = "#state=";
const LIMITS = {
  importance: [0, 1e6], precision_at_full_recall: [0, 0.9999], recall_at_full_precision: [0, 0.9999], recall_weight: [0, 1],
  min_precision: [0, 1], min_recall: [0, 1], max_share: [0, 1], confidence: [0, 1],
};
const WEIGHTS = [1e-100, 1e100];

/** Return the fragment of an address that stands for a state: what differs from the first preferences, and the weights if they were changed. */
export function toFragment({ preferences, weights, chosen, by }, first) {
  const changed = {};
  preferences.classes.forEach((preference, k) => {
    const names = Object.keys(LIMITS).filter((name) => (preference[name] ?? null) !== (first.classes[k][name] ?? null));
    if (names.length) changed[k] = Object.fromEntries(names.map((name) => [name, preference[name] ?? null]));
  });
  const state = { of: preferences.classes.length, metric: preferences.metric, by, chosen };
  if (Object.keys(changed).length) state.classes = changed;
  if (by !== "given") state.weights = Array.from(weights);
  return MARK + encodeURIComponent(JSON.stringify(state));
}

const isNumber = (value, [least, most]) => typeof value === "number" && value >= least && value <= most;

/** Return the change that a fragment asks for, as the panel's `set` takes it; null where it is none, or of another page. */
export function fromFragment(fragment, first) {
  if (!fragment.startsWith(MARK)) return null;
  let state;
  try {
    state = JSON.parse(decodeURIComponent(fragment.slice(MARK.length)));
  } catch {
    return null;
  }
  const size = first.classes.length;
  if (!state || state.of !== size || !METRICS.includes(state.metric) || !["given", "tuned", "hand"].includes(state.by)) return null;
  const classes = first.classes.map((preference) => ({ ...preference }));
  for (const [k, given] of Object.entries(state.classes ?? {})) {
    if (!/^\d+$/.test(k) || !classes[k] || !given || typeof given !== "object") return null;
    for (const [name, value] of Object.entries(given)) {
      if (!Object.hasOwn(LIMITS, name) || !(value === null ? name !== "importance" : isNumber(value, LIMITS[name]))) return null;
      classes[k][name] = value;
    }
  }
  const { weights } = state;
  const usable = Array.isArray(weights) && weights.length === size && weights.every((weight) => isNumber(weight, WEIGHTS));
  if (state.by !== "given" && !usable) return null;
  const chosen = Number.isInteger(state.chosen) && classes[state.chosen] ? state.chosen : 0;
  return { preferences: { ...first, metric: state.metric, classes }, weights: state.by === "given" ? null : weights, by: state.by, chosen };
}
