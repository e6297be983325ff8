// Curves of one class: trade-off, precision-recall, ROC and weight sweep, each with the current point and a crosshair.

import { metricIndex, metricValue } from "./preferences.js";
import { envelope, frontier } from "./cuts.js";
import { count, draw, make, percent, setAttribute, setText } from "./elements.js";

const SIZE = { width: 200, height: 170, left: 24, right: 8, top: 8, bottom: 32 };
const WIDTH = SIZE.width - SIZE.left - SIZE.right;
const HEIGHT = SIZE.height - SIZE.top - SIZE.bottom;
const OUTSIDE = -20;

const toX = (x) => SIZE.left + WIDTH * x;
const toY = (y) => SIZE.top + HEIGHT * (1 - y);
const corner = (x, y) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`;

/** Return the path through points of the unit square; undefined ones and those too near to be told apart are left out. */
function pathOf(size, x, y) {
  let path = "", lastX = -9, lastY = -9;
  for (let i = 0; i < size; i++) {
    const [nextX, nextY] = [x(i), y(i)];
    if (Number.isNaN(nextX + nextY)) continue;
    const distance = Math.abs(nextX - lastX) * WIDTH + Math.abs(nextY - lastY) * HEIGHT;
    if (distance > 0.7 || i === size - 1) {
      path += (path ? "L" : "M") + corner(nextX, nextY);
      [lastX, lastY] = [nextX, nextY];
    }
  }
  return path;
}

const TICKS = [[0, "0"], [0.5, "0.5"], [1, "1"]];
const ANCHORS = { 0: "start", 0.5: "middle", 1: "end" };
const STEPS = { ArrowRight: 0.01, ArrowLeft: -0.01, ArrowUp: 0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1 };

/**
 * Let a picture tell its values: the point nearest to the pointer, or reached by the arrow keys, is marked and read out; a click or
 * Enter picks it. Returns probe({size, x(i), y(i), text(i), now, rest}, pick); `rest` is read where nothing is pointed at.
 */
function crosshair(svg, cross, ring, readout) {
  let points = null, pick = null, at = null;
  const hide = () => {
    at = null;
    for (const name of ["x1", "x2"]) setAttribute(cross, name, OUTSIDE);
    setAttribute(ring, "cx", OUTSIDE);
    setText(readout, points?.rest ?? "");
  };
  const show = (i) => {
    at = i;
    for (const name of ["x1", "x2"]) setAttribute(cross, name, toX(points.x(i)).toFixed(1));
    setAttribute(ring, "cx", toX(points.x(i)).toFixed(1));
    setAttribute(ring, "cy", toY(points.y(i)).toFixed(1));
    setText(readout, points.text(i));
    setAttribute(svg, "aria-valuenow", i);
    setAttribute(svg, "aria-valuetext", points.text(i));
  };
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (((event.clientX - box.left) / box.width) * SIZE.width - SIZE.left) / WIDTH;
    const y = 1 - (((event.clientY - box.top) / box.height) * SIZE.height - SIZE.top) / HEIGHT;
    let best = -1, least = Infinity;
    for (let i = 0; i < points.size; i++) {
      const distance = (points.x(i) - x) ** 2 + (points.across ? 0 : (points.y(i) - y) ** 2);
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  };
  const choose = () => at !== null && pick && pick(at);
  svg.addEventListener("pointermove", (event) => {
    const i = points ? nearest(event) : -1;
    if (i >= 0) show(i);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("click", choose);
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter") return choose();
    const step = STEPS[event.key];
    if (!step || !points) return undefined;
    event.preventDefault();
    const move = Math.sign(step) * Math.max(1, Math.round(Math.abs(step) * points.size));
    return show(Math.max(0, Math.min(points.size - 1, (at ?? points.now ?? 0) + move)));
  });
  return (now, picked) => {
    [points, pick] = [now, picked];
    setAttribute(svg, "aria-valuemax", now.size - 1);
    if (at === null || at >= now.size) {
      hide();
      setAttribute(svg, "aria-valuenow", now.now ?? 0);
      setAttribute(svg, "aria-valuetext", "move with the arrow keys");
    } else show(at);
  };
}

/** Return an empty picture: {node, line(kind, size, x, y), mark(x), dot(x, y), describe(text), probe(points, pick)}. */
function picture(title, [xTitle, yTitle], lines, xTicks = TICKS) {
  const grid = TICKS.map(([y]) => draw("path", { class: "cp-grid", d: `M${corner(0, y)}L${corner(1, y)}` }));
  const xTexts = xTicks.map(([x, text]) => draw("text", { x: toX(x), y: toY(0) + 13, "text-anchor": ANCHORS[x] }, text));
  const yTexts = TICKS.map(([y, text]) => draw("text", { x: SIZE.left - 5, y: toY(y) + 3.5, "text-anchor": "end" }, text));
  const paths = Object.fromEntries(lines.map((kind) => [kind, draw("path", { class: `cp-line cp-${kind}-line` })]));
  const mark = draw("line", { class: "cp-mark", y1: toY(0), y2: toY(1), x1: OUTSIDE, x2: OUTSIDE });
  const cross = draw("line", { class: "cp-cross", y1: toY(0), y2: toY(1), x1: OUTSIDE, x2: OUTSIDE });
  const ring = draw("circle", { class: "cp-ring", r: 3, cx: OUTSIDE, cy: OUTSIDE });
  const dot = draw("circle", { class: "cp-dot", r: 4.5, cx: OUTSIDE, cy: OUTSIDE });
  const axis = draw("text", { class: "cp-axis", x: toX(0.5), y: SIZE.height - 5, "text-anchor": "middle" }, xTitle);
  const node = draw(
    "svg", { class: "cp-picture", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "slider", tabindex: 0, "aria-label": title, "aria-valuemin": 0 },
    grid, xTexts, yTexts, axis, mark, Object.values(paths), cross, dot, ring,
  );
  const readout = make("p", { class: "cp-readout", "aria-hidden": "true" });
  return {
    node: make("figure", { class: "cp-figure" }, make("figcaption", {}, make("strong", {}, title), ` ${yTitle}`), node, readout),
    line: (kind, size, x, y) => setAttribute(paths[kind], "d", pathOf(size, x, y)),
    mark: (x) => ["x1", "x2"].forEach((name) => setAttribute(mark, name, Number.isFinite(x) ? toX(x) : OUTSIDE)),
    dot(x, y) {
      const known = Number.isFinite(x + y);
      setAttribute(dot, "cx", known ? toX(x).toFixed(1) : OUTSIDE);
      setAttribute(dot, "cy", known ? toY(y).toFixed(1) : OUTSIDE);
    },
    describe: (text) => setAttribute(node, "aria-label", `${title}: ${text}`),
    probe: crosshair(node, cross, ring, readout),
  };
}

const REACH = 100;
const logPosition = (factor) => 0.5 + Math.log(factor) / (2 * Math.log(REACH));
const digits = (number) => (Number.isFinite(number) ? number.toFixed(3) : "?");

/** Return the four pictures: {node, update(cuts, parts, preferences, k, pick)}; `pick` gets the number of a cut. */
export function curvePictures() {
  const tradeoff = picture("Trade-off", ["recall weight", "best value, and the value of this result"], ["own", "best"]);
  const pr = picture("Precision-recall", ["recall", "precision"], ["best"]);
  const roc = picture("ROC", ["false positive rate", "recall"], ["chance", "best"]);
  const sweep = picture("Weight sweep", ["weight of the class", ""], ["recall", "precision", "loss"], [[0, "÷100"], [0.5, "now"], [1, "×100"]]);
  const key = ["recall", "precision", "loss"].map((name) => make("span", { class: `cp-key cp-key-${name}` }, name));
  sweep.node.querySelector("figcaption").append(...key);
  roc.line("chance", 2, (end) => end, (end) => end);
  return {
    node: make("div", { class: "cp-pictures" }, tradeoff.node, pr.node, roc.node, sweep.node),
    update(cuts, parts, preferences, k, pick) {
      const size = cuts.hits.length;
      const recall = (c) => (cuts.positives > 0 ? cuts.hits[c] / cuts.positives : NaN);
      const precision = (c) => cuts.hits[c] / (cuts.hits[c] + cuts.alarms[c]);
      const alarmRate = (alarms) => (cuts.negatives > 0 ? alarms / cuts.negatives : 0);
      const now = { precision: parts.precision[k], recall: parts.recall[k], alarmRate: alarmRate(parts.predicted[k] - parts.hits[k]) };
      const text = (c) =>
        `found ${count(cuts.hits[c])} of ${count(cuts.positives)} (${percent(recall(c))}), ${count(cuts.alarms[c])} false alarms, precision ${percent(precision(c))}`;
      const rest = `now: found ${count(parts.hits[k])} of ${count(cuts.positives)} (${percent(now.recall)}), ${count(parts.predicted[k] - parts.hits[k])} false alarms, precision ${percent(now.precision)}`;
      const present = Math.max(0, cuts.factor.findLastIndex((factor) => factor <= 1));
      drawTradeoff(tradeoff, cuts, metricIndex(preferences.metric), now, parts.goal.weight[k]);
      pr.line("best", size, recall, precision);
      pr.dot(now.recall, now.precision);
      pr.describe(`recall ${digits(now.recall)}, precision ${digits(now.precision)}`);
      pr.probe({ size, x: recall, y: precision, text, rest, now: present }, pick);
      const rate = (c) => (c < size ? alarmRate(cuts.alarms[c]) : 1);
      roc.line("best", size + 1, rate, (c) => (c < size ? recall(c) : 1));
      roc.dot(now.alarmRate, now.recall);
      roc.describe(`false positive rate ${digits(now.alarmRate)}, recall ${digits(now.recall)}`);
      roc.probe({ size, x: rate, y: recall, text, rest, now: present }, pick);
      const dearest = parts.goal.cost ? cuts.loss.reduce((a, b) => Math.max(a, b), parts.total) || 1 : 1;
      drawSweep(sweep, cuts, parts.total, dearest, { recall, precision, loss: (c) => cuts.loss[c] / dearest });
      const place = (c) => Math.max(0, Math.min(1, logPosition(cuts.factor[c] || 1e-9)));
      const told = (c) => `weight ×${Number(cuts.factor[c].toPrecision(3))}: loss ${cuts.loss[c].toFixed(4)}, ${text(c)}`;
      sweep.probe({ size, x: place, y: (c) => cuts.loss[c] / dearest, text: told, rest: `now: loss ${parts.total.toFixed(4)}`, now: present, across: true }, pick);
    },
  };
}

function drawTradeoff(tradeoff, cuts, metric, now, weight) {
  const own = (recallWeight) => metricValue(metric, now.precision || 0, now.recall || 0, recallWeight);
  const best = envelope(frontier(cuts), metric);
  const steps = best.length - 1;
  tradeoff.line("best", steps + 1, (step) => step / steps, (step) => best[step]);
  tradeoff.line("own", steps + 1, (step) => step / steps, (step) => own(step / steps));
  tradeoff.mark(weight);
  tradeoff.dot(weight, own(weight));
  tradeoff.describe(`at your recall weight ${weight.toFixed(3)} the value is ${own(weight).toFixed(3)}`);
  const text = (step) => `recall weight ${(step / steps).toFixed(3)}: best value ${best[step].toFixed(3)}, this result ${own(step / steps).toFixed(3)}`;
  tradeoff.probe({ size: steps + 1, x: (step) => step / steps, y: (step) => best[step], text, rest: `at your recall weight ${digits(weight)}: ${digits(own(weight))}`, now: Math.round(weight * steps), across: true }, null);
}

function drawSweep(sweep, cuts, total, dearest, lines) {
  const { factor } = cuts;
  let begin = 0, end = factor.length;
  while (begin < end - 1 && factor[begin + 1] < 1 / REACH) begin++;
  while (end > begin + 1 && factor[end - 1] > REACH) end--;
  // one more point at either end: a line continues where nothing flips
  const size = end - begin + 1;
  const x = (c) => (c === 0 ? 0 : c === size - 1 ? 1 : logPosition(factor[begin + c]));
  // two points per flip make steps: nothing changes between two flips
  const step = (point) => (point + 1) >> 1;
  for (const [kind, value] of Object.entries(lines)) {
    const y = (c) => value(Math.min(begin + c, end - 1));
    sweep.line(kind, 2 * size - 1, (point) => x(step(point)), (point) => y(step(point) - (point % 2)));
  }
  sweep.mark(0.5);
  sweep.dot(0.5, total / dearest);
  const least = cuts.loss.reduce((a, b) => Math.min(a, b));
  sweep.describe(`the loss now is ${total.toFixed(4)}, its lowest along this line ${least.toFixed(4)}`);
}
