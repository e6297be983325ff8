// The sliders and fields of preferences: metric, importance, the two answers and the constraints of each class.

import { METRICS, metricIndex, recallWeight, weightText } from "./preferences.js";
import { make, nameOf, percent, setText } from "./elements.js";
import { classesThatMatter } from "./headline.js";

const IMPORTANCES = [0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 200, 500, 1000];
const OPEN = 3;
const ANSWERS = { precision_at_full_recall: "Precision at full recall", recall_at_full_precision: "Recall at full precision" };
const CONSTRAINTS = { min_precision: "precision at least", min_recall: "recall at least", max_share: "share of rows at most" };

let lastId = 0;
const newId = () => `cp-${++lastId}`;

/** Return a slider that belongs to the class `owner`; `changed` gets its position: {node, show(position, text)}. */
function slider(label, owner, max, changed) {
  const id = newId();
  const output = make("output", { for: id });
  const input = make("input", { type: "range", id, min: 0, max, step: 1, "aria-label": `${label}: ${owner}`, oninput: () => changed(Number(input.value)) });
  return {
    node: make("div", { class: "cp-knob" }, make("label", { for: id }, label), input, output),
    show(position, text) {
      input.value = String(position);
      setText(output, text);
      input.setAttribute("aria-valuetext", text);
    },
  };
}

/** Return a field for a bound in per cent; `changed` gets a fraction or null: {node, show(fraction)}. */
function boundField(label, owner, changed) {
  const id = newId();
  const complaint = make("small", { class: "cp-complaint", role: "alert" });
  const input = make("input", { type: "number", id, min: 0, max: 100, step: "any", placeholder: "none", "aria-label": `${label}: ${owner}, per cent`, oninput: () => {
    const { valid } = input.validity;
    input.setAttribute("aria-invalid", String(!valid));
    setText(complaint, valid ? "" : "a number from 0 to 100");
    if (valid) changed(input.value === "" ? null : Number(input.value) / 100);
  } });
  return {
    node: make("span", { class: "cp-constraint" }, make("label", { for: id }, label), input, " %", complaint),
    show(fraction) {
      if (document.activeElement === input) return;
      input.value = fraction == null ? "" : String(Number((100 * fraction).toPrecision(6)));
      input.setAttribute("aria-invalid", "false");
      setText(complaint, "");
    },
  };
}

/** Return the controls of one class, which change its preference in place: {node, show(metric)}; with costs the constraints alone. */
function classControls(preference, open, costs, changed) {
  const owner = preference.text;
  const set = (name, value) => {
    preference[name] = value;
    changed();
  };
  const answer = (name, value) => {
    if (preference.recall_weight != null) {
      preference.recall_weight = null;
      for (const each of Object.keys(ANSWERS)) preference[each] = 0.8;
    }
    set(name, value);
  };
  const steps = [...new Set([...IMPORTANCES, preference.importance])].sort((a, b) => a - b);
  const importance = slider("Importance", owner, steps.length - 1, (position) => set("importance", steps[position]));
  const answers = Object.entries(ANSWERS).map(([name, label]) => [name, slider(label, owner, 99, (position) => answer(name, position / 100))]);
  const bounds = Object.entries(CONSTRAINTS).map(([name, label]) => [name, boundField(label, owner, (value) => set(name, value))]);
  const brief = make("span", { class: "cp-brief" });
  const constraints = make("div", { class: "cp-constraints" }, make("span", {}, "Constraints: "), bounds.map(([, field]) => field.node));
  return {
    node: make(
      "details", { class: "cp-class", open }, make("summary", {}, nameOf(preference.text, preference.short), brief),
      costs ? null : [importance.node, ...answers.map(([, control]) => control.node)], constraints,
    ),
    show(metric) {
      importance.show(Math.max(0, steps.findIndex((step) => step >= preference.importance)), String(preference.importance));
      for (const [name, control] of answers) {
        const value = preference[name];
        control.show(Math.round(100 * (value ?? 0.8)), value == null ? "–" : percent(value, 0));
      }
      for (const [name, field] of bounds) field.show(preference[name]);
      if (costs) return;
      setText(brief, `importance ${preference.importance} · recall weight ${weightText(metric, recallWeight(metric, preference))}`);
    },
  };
}

/** Return the positions of the classes: those that matter first, then the rarer ones; classes without rows stand last. */
export function orderOfClasses(preferences, support) {
  const first = classesThatMatter(preferences, support);
  const rest = support.map((_, k) => k).filter((k) => !first.includes(k));
  return [...first, ...rest.sort((a, b) => (support[b] > 0) - (support[a] > 0) || support[a] - support[b])];
}

/** Return the controls of preferences, which they change in place: {node, show()}. Those that matter stand first, and open. */
export function preferenceControls(preferences, support, changed) {
  const id = newId();
  const options = METRICS.map((name) => make("option", { value: name }, name.replace("_", "-")));
  const metric = make("select", { id, onchange: () => {
    preferences.metric = metric.value;
    changed();
  } }, options);
  const open = support.length === 2 ? 2 : Math.max(1, Math.min(OPEN, classesThatMatter(preferences, support).length));
  const classes = orderOfClasses(preferences, support).map((k, position) => classControls(preferences.classes[k], position < open, Boolean(preferences.cost), changed));
  return {
    node: make(
      "div", { class: "cp-controls", role: "group", "aria-label": "Preferences" },
      preferences.cost ? make("p", { class: "cp-note" }, "Judged by the costs given.") : make("div", { class: "cp-metric" }, make("label", { for: id }, "Metric"), metric),
      make("div", { class: "cp-classes" }, classes.map((controls) => controls.node)),
    ),
    show() {
      metric.value = preferences.metric;
      for (const controls of classes) controls.show(metricIndex(preferences.metric));
    },
  };
}
