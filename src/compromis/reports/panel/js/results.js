// What the decision does: verdict, losses, bars of each class and the confusion matrix.

import { rates } from "./loss.js";
import { bar, count, draw, make, nameOf, percent, put, say } from "./elements.js";

const READABLE = 60;

/** Return the verdict and the losses beside those of naive decisions: {node, update(judged, beforeLoss)}. */
export function verdictCard() {
  const sentence = make("p", { class: "cp-sentence", role: "status", "aria-live": "polite" });
  const now = make("strong", { class: "cp-loss" });
  const kinds = ["now", "before", "naive"];
  const marks = kinds.map((kind) => draw("rect", { class: `cp-scale-${kind}`, y: 2, height: 12, width: 1.2, x: -5, rx: 0.6 }));
  const scale = draw(
    "svg", { class: "cp-scale", viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "cp-track", x: 0, y: 6, width: 100, height: 4, rx: 2 }), ...marks,
  );
  const texts = kinds.map((kind) => make("span", { class: `cp-key cp-key-${kind}` }));
  const node = make(
    "div", { class: "cp-verdict" }, sentence,
    make("div", { class: "cp-losses" }, make("span", {}, "Loss ", now), scale, make("div", { class: "cp-legend" }, ...texts)),
  );
  return {
    node,
    update(judged, before) {
      const best = judged.naive.reduce((a, b) => (b.shortfall < a.shortfall || (b.shortfall === a.shortfall && b.loss < a.loss) ? b : a));
      say(sentence, judged.sentence.charAt(0).toUpperCase() + judged.sentence.slice(1) + ".");
      put(node, "class", judged.informative ? "cp-verdict" : "cp-verdict cp-worthless");
      const values = [judged.parts.total, before, best.loss];
      say(now, Number.isFinite(values[0]) ? values[0].toFixed(4) : "?");
      values.forEach((value, place) => put(marks[place], "x", Number.isFinite(value) ? (98.8 * value).toFixed(2) : -5));
      ["this decision", "before", `without a model: ${best.name}`].forEach((name, place) =>
        say(texts[place], `${name} ${Number.isFinite(values[place]) ? values[place].toFixed(4) : "?"}`),
      );
    },
  };
}

/** Return the table of classes with bars for recall and precision: {node, update(parts, counts, weights), chosen(k)}. */
export function classTable(preferences, before, choose) {
  const old = rates(before);
  const rows = preferences.classes.map((one, k) => {
    const bars = [bar("recall"), bar("precision")];
    const cells = Array.from({ length: 5 }, () => make("span"));
    const button = make("button", { type: "button", class: "cp-pick", "aria-pressed": "false" }, nameOf(one.text));
    button.addEventListener("click", () => choose(k));
    const row = make(
      "tr", {}, make("th", { scope: "row" }, button),
      make("td", { class: "cp-barred" }, bars[0].node, cells[0]), make("td", { class: "cp-barred" }, bars[1].node, cells[1]),
      ...cells.slice(2).map((cell) => make("td", {}, cell)),
    );
    return { row, bars, cells, button };
  });
  const head = ["class", "recall", "precision", "predicted", "adds to loss", "weight"].map((name) => make("th", { scope: "col", class: name === "recall" || name === "precision" ? "cp-barred" : null }, name));
  const table = make("table", { class: "cp-table" }, make("caption", {}, "Each class; the tick is the decision before"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.map((one) => one.row)));
  return {
    node: make("div", { class: "cp-scroll cp-tall", tabindex: "0", role: "region", "aria-label": "Each class" }, table),
    update(parts, weights) {
      rows.forEach(({ bars, cells }, k) => {
        bars[0].set(parts.recall[k], old.recall[k]);
        bars[1].set(parts.precision[k], old.precision[k]);
        say(cells[0], percent(parts.recall[k]));
        say(cells[1], percent(parts.precision[k]));
        say(cells[2], percent(parts.predicted[k] / parts.rows));
        say(cells[3], Number.isFinite(parts.added[k]) ? parts.added[k].toFixed(4) : "?");
        say(cells[4], Number(weights[k].toPrecision(3)).toString());
      });
    },
    chosen: (chosen) => rows.forEach(({ row, button }, k) => {
      put(button, "aria-pressed", String(k === chosen));
      put(row, "class", k === chosen ? "cp-chosen" : "");
    }),
  };
}

/** Return shades from 0 to 10 for shares of a row or column. */
export const shade = (share) => (share > 0 ? Math.max(1, Math.min(10, Math.ceil(10 * share))) : 0);

const MODES = { counts: "counts", row: "by row: share of the true class", column: "by column: share of the predicted class" };

function modeButtons(changed) {
  const name = `cp-mode-${Math.random().toString(36).slice(2)}`;
  const choices = Object.entries(MODES).map(([mode, text], place) => {
    const input = make("input", { type: "radio", name, value: mode, checked: place === 0 });
    input.addEventListener("change", () => changed(mode));
    return make("label", {}, input, ` ${text}`);
  });
  return make("div", { class: "cp-modes", role: "radiogroup", "aria-label": "What the cells show" }, ...choices);
}

/** Write counts into the cells of a matrix, shaded by their share. */
function paint(cells, counts, mode) {
  const { support, predicted } = rates(counts);
  cells.forEach((row, t) => row.forEach((cell, d) => {
    const number = counts[t][d];
    const share = mode === "column" ? number / predicted[d] : number / support[t];
    say(cell, mode === "counts" ? (number === 0 ? "·" : count(number)) : number === 0 ? "·" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}`);
    put(cell, "class", `${t === d ? "cp-hit" : "cp-miss"} cp-h${shade(share)}`);
  }));
}

/** Return the confusion matrix: {node, update(counts)}; of very many classes only a note. */
export function confusionMatrix(preferences) {
  const size = preferences.classes.length;
  if (size > READABLE) {
    return { node: make("p", { class: "cp-note" }, `A live matrix of ${size} x ${size} cells would not be readable; the table above has every class.`), update() {} };
  }
  const cells = preferences.classes.map(() => preferences.classes.map(() => make("td")));
  const head = preferences.classes.map((one) => make("th", { scope: "col" }, nameOf(one.text)));
  const body = preferences.classes.map((one, t) => make("tr", {}, make("th", { scope: "row" }, nameOf(one.text)), ...cells[t]));
  const table = make(
    "table", { class: size > 8 ? "cp-matrix cp-dense" : "cp-matrix" },
    make("caption", {}, "Confusion matrix: rows are the truth, columns the decision"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "truth \\ predicted"), ...head)), make("tbody", {}, ...body),
  );
  let shown = null, mode = "counts";
  const modes = modeButtons((chosen) => {
    mode = chosen;
    if (shown) paint(cells, shown, mode);
  });
  return {
    node: make("div", { class: "cp-matrix-block" }, modes, make("div", { class: "cp-scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" }, table)),
    update(counts) {
      shown = counts;
      paint(cells, counts, mode);
    },
  };
}
