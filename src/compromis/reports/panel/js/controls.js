// The knobs: importance, the two answers and the minima of each class, and the metric.

import { METRICS, recallWeight } from "./preferences.js";
import { make, nameOf, percent, say } from "./elements.js";

const IMPORTANCES = [0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 200, 500, 1000];
const OPEN_UP_TO = 6;

let lastId = 0;
const newId = () => `cp-${++lastId}`;

function slider(label, limits, shown) {
  const id = newId();
  const output = make("output", { for: id });
  const input = make("input", { type: "range", id, ...limits });
  const node = make("div", { class: "cp-knob" }, make("label", { for: id }, label), input, output);
  return {
    node, input,
    show(position, value) {
      input.value = String(position);
      say(output, shown(value));
      input.setAttribute("aria-valuetext", shown(value));
    },
  };
}

function floorField(label) {
  const id = newId();
  const input = make("input", { type: "number", id, min: 0, max: 100, step: 1, placeholder: "none" });
  return { node: make("span", { class: "cp-floor" }, make("label", { for: id }, label), input, " %"), input };
}

function levels(first) {
  return [...new Set([...IMPORTANCES, first])].sort((a, b) => a - b);
}

function classKnobs(one, open, changed) {
  const steps = levels(one.importance);
  const importance = slider("Importance", { min: 0, max: steps.length - 1, step: 1 }, (value) => String(value));
  const precision = slider("For recall 1, I accept a precision of", { min: 0, max: 99, step: 1 }, (value) => (value == null ? "–" : percent(value, 0)));
  const recall = slider("For precision 1, I accept a recall of", { min: 0, max: 99, step: 1 }, (value) => (value == null ? "–" : percent(value, 0)));
  const leastPrecision = floorField("precision");
  const leastRecall = floorField("recall");
  const brief = make("span", { class: "cp-brief" });
  const floors = make("div", { class: "cp-floors" }, make("span", {}, "Never below: "), leastPrecision.node, leastRecall.node);
  const node = make(
    "details", { class: "cp-class", open },
    make("summary", {}, nameOf(one.text), brief), importance.node, precision.node, recall.node, floors,
  );
  const answer = (name, input) => input.addEventListener("input", () => {
    if (one.recall_weight != null) Object.assign(one, { recall_weight: null, precision_at_full_recall: 0.8, recall_at_full_precision: 0.8 });
    one[name] = Number(input.value) / 100;
    changed();
  });
  const floor = (name, input) => input.addEventListener("input", () => {
    const value = input.value === "" || !input.validity.valid ? null : Number(input.value) / 100;
    input.setAttribute("aria-invalid", String(!input.validity.valid));
    if (input.validity.valid) {
      one[name] = value;
      changed();
    }
  });
  importance.input.addEventListener("input", () => {
    one.importance = steps[Number(importance.input.value)];
    changed();
  });
  answer("precision_at_full_recall", precision.input);
  answer("recall_at_full_precision", recall.input);
  floor("min_precision", leastPrecision.input);
  floor("min_recall", leastRecall.input);
  return {
    node,
    show(metric) {
      importance.show(Math.max(0, steps.findIndex((step) => step >= one.importance)), one.importance);
      precision.show(Math.round(100 * (one.precision_at_full_recall ?? 0.8)), one.precision_at_full_recall);
      recall.show(Math.round(100 * (one.recall_at_full_precision ?? 0.8)), one.recall_at_full_precision);
      for (const [field, value] of [[leastPrecision, one.min_precision], [leastRecall, one.min_recall]]) {
        const text = value == null ? "" : String(Number((100 * value).toPrecision(6)));
        if (document.activeElement !== field.input) field.input.value = text;
      }
      say(brief, `importance ${one.importance} · recall weight ${recallWeight(metric, one).toFixed(2)}`);
    },
  };
}

/** Return the knobs of preferences, which they change in place: {node, show()}. */
export function knobs(preferences, changed) {
  const id = newId();
  const metric = make("select", { id }, ...METRICS.map((name) => make("option", { value: name }, name.replace("_", "-"))));
  metric.addEventListener("change", () => {
    preferences.metric = metric.value;
    changed();
  });
  const highest = Math.max(...preferences.classes.map((one) => one.importance));
  const few = preferences.classes.length <= OPEN_UP_TO;
  const top = preferences.classes.findIndex((one) => one.importance === highest);
  const each = preferences.classes.map((one, k) => classKnobs(one, few ? k < 3 || k === top : k === top, changed));
  const choice = make("div", { class: "cp-metric" }, make("label", { for: id }, "Metric"), metric);
  return {
    node: make("div", { class: "cp-controls", role: "group", "aria-label": "What matters" }, choice, make("div", { class: "cp-classes" }, ...each.map((one) => one.node))),
    show() {
      metric.value = preferences.metric;
      each.forEach((one) => one.show(METRICS.indexOf(preferences.metric)));
    },
  };
}
