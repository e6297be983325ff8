// What the weights do: losses, a table of classes and the confusion matrix.

import { rates } from "./loss.js";
import { bar, count, decimal, draw, make, nameOf, percent, setAttribute, setText } from "./elements.js";
import { finder, makeSortable } from "./tables.js";

const MOST_READABLE = 60;

/** Return a focusable region that scrolls. */
const scrolling = (label, extra, table) => make("div", { class: `cp-scroll ${extra}`, tabindex: "0", role: "region", "aria-label": label }, table);

/** Return the losses of this result, of the result before and of the best baseline: {node, update(judged, before, name)}. */
export function verdictCard({ cost }) {
  const measure = cost ? "Average cost" : "Loss";
  const sentence = make("p", { class: "cp-sentence", role: "status", "aria-live": "polite" });
  const total = make("strong", { class: "cp-loss" });
  const kinds = ["now", "before", "naive"];
  const marks = kinds.map((kind) => draw("rect", { class: `cp-scale-${kind}`, y: 2, height: 12, width: 1.2, x: -5, rx: 0.6 }));
  const legend = kinds.map((kind) => make("span", { class: `cp-key cp-key-${kind}` }));
  const track = draw("rect", { class: "cp-track", x: 0, y: 6, width: 100, height: 4, rx: 2 });
  const scale = draw("svg", { class: "cp-scale", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" }, track, marks);
  const losses = make("div", { class: "cp-losses" }, make("span", {}, measure, " ", total), scale, make("div", { class: "cp-legend" }, legend));
  const node = make("div", { class: "cp-verdict cp-small-print" }, sentence, losses);
  return {
    node,
    update(judged, before, name) {
      setText(sentence, judged.sentence.charAt(0).toUpperCase() + judged.sentence.slice(1) + ".");
      setAttribute(node, "class", `cp-verdict cp-small-print${judged.good ? " cp-unjudged" : " cp-worthless"}`);
      setText(total, decimal(judged.parts.total));
      const dearest = judged.parts.goal.cost ? Math.max(judged.parts.total, before ?? 0, judged.best?.loss ?? 0) : 1;
      const values = [[name, judged.parts.total], ["the decision given", before], [`without a model: ${judged.best?.name}`, judged.best?.loss]];
      values.forEach(([text, value], i) => {
        setAttribute(marks[i], "x", Number.isFinite(value) ? ((98.8 * Math.max(value, 0)) / dearest).toFixed(2) : -1000);
        legend[i].hidden = value == null;
        setText(legend[i], `${text} ${decimal(value ?? NaN)}`);
      });
    },
  };
}

const CELLS = [null, null, "cp-barred", "cp-barred", "cp-extra"];

/** Return the table of classes with bars for recall and precision: {node, update(parts, weights, before), select(k)}. */
export function classTable(preferences, select) {
  const rows = preferences.classes.map((preference, k) => {
    const bars = [bar("recall"), bar("precision")];
    const cells = Array.from({ length: 7 }, () => make("span"));
    const button = make("button", { type: "button", class: "cp-pick", "aria-pressed": "false", onclick: () => select(k) }, nameOf(preference.text, preference.short));
    const columns = cells.map((cell, c) => make("td", { class: CELLS[c] }, bars[c - 2]?.node, cell));
    return { node: make("tr", {}, make("th", { scope: "row" }, button), columns), bars, cells, button };
  });
  const names = ["class", "missed", "false alarms", "recall", "precision", "predicted", "adds to loss", "weight"];
  const head = names.map((name, c) => make("th", { scope: "col", class: CELLS[c - 1] }, name));
  const caption = make("caption", {}, "Each class");
  const table = make("table", { class: "cp-table" }, caption, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows.map((row) => row.node)));
  makeSortable(table);
  return {
    node: make("div", {}, finder(table), scrolling("Each class as the sliders stand", "cp-tall", table)),
    update(parts, weights, before) {
      const old = before && rates(before);
      setText(caption, old ? "Each class; the tick marks the decision given" : "Each class");
      rows.forEach(({ bars, cells }, k) => {
        bars[0].set(parts.recall[k], old?.recall[k]);
        bars[1].set(parts.precision[k], old?.precision[k]);
        const missed = `${count(parts.support[k] - parts.hits[k])} of ${count(parts.support[k])}`;
        const rest = [percent(parts.predicted[k] / parts.rows), decimal(parts.added[k]), weights ? Number(weights[k].toPrecision(3)).toString() : "–"];
        const texts = [missed, count(parts.predicted[k] - parts.hits[k]), percent(parts.recall[k]), percent(parts.precision[k]), ...rest];
        texts.forEach((text, c) => setText(cells[c], text));
      });
    },
    select: (selected) => rows.forEach(({ node, button }, k) => {
      setAttribute(button, "aria-pressed", String(k === selected));
      setAttribute(node, "class", k === selected ? "cp-chosen" : "");
    }),
  };
}

/** Return how dark a cell is, from 0 to 10. */
const shade = (fraction) => (fraction > 0 ? Math.max(1, Math.min(10, Math.ceil(10 * fraction))) : 0);

const MODES = { counts: "counts", row: "by row: share of the true class", column: "by column: share of the predicted class" };

function modeButtons(changed) {
  const name = `cp-mode-${Math.random().toString(36).slice(2)}`;
  const choices = Object.entries(MODES).map(([mode, text]) =>
    make("label", {}, make("input", { type: "radio", name, value: mode, checked: mode === "counts", onchange: () => changed(mode) }), ` ${text}`));
  return make("div", { class: "cp-modes", role: "radiogroup", "aria-label": "What the cells show" }, choices);
}

/** Write counts into the cells of a matrix, shaded by their fraction of the row or column. */
function paint(cells, counts, mode) {
  const { support, predicted } = rates(counts);
  cells.forEach((row, t) => row.forEach((cell, p) => {
    const number = counts[t][p];
    const fraction = mode === "column" ? number / predicted[p] : number / support[t];
    const text = mode === "counts" ? count(number) : (100 * fraction).toFixed(fraction < 0.0995 ? 1 : 0);
    setText(cell, number === 0 ? "·" : text);
    setAttribute(cell, "class", `${t === p ? "cp-hit" : "cp-miss"} cp-h${shade(fraction)}`);
  }));
}

/** Return the confusion matrix: {node, update(counts)}; of very many classes only a note. */
export function confusionMatrix({ classes }) {
  const size = classes.length;
  if (size > MOST_READABLE) {
    return { node: make("p", { class: "cp-note" }, `A live matrix of ${size} x ${size} cells would not be readable; the table above has every class.`), update() {} };
  }
  const cells = classes.map(() => classes.map(() => make("td")));
  const head = classes.map(({ text, head }) => make("th", { scope: "col" }, nameOf(text, head)));
  const body = classes.map(({ text, short }, t) => make("tr", {}, make("th", { scope: "row" }, nameOf(text, short)), cells[t]));
  const table = make(
    "table", { class: size > 8 ? "cp-matrix cp-dense" : "cp-matrix" },
    make("caption", {}, "Confusion matrix: rows are the truth, columns the prediction"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "truth \\ predicted"), head)), make("tbody", {}, body),
  );
  let shown = null, mode = "counts";
  const modes = modeButtons((selected) => {
    mode = selected;
    if (shown) paint(cells, shown, mode);
  });
  return {
    node: make("div", { class: "cp-matrix-block" }, modes, scrolling("Confusion matrix as the sliders stand", "cp-matrix-scroll", table)),
    update(counts) {
      shown = counts;
      paint(cells, counts, mode);
    },
  };
}
