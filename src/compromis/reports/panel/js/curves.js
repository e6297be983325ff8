// Pictures of one class: trade-off, precision-recall and ROC curves with the chosen point, and the weight sweep.

import { METRICS, metricValue } from "./preferences.js";
import { envelope, frontier } from "./cuts.js";
import { draw, make, put, say } from "./elements.js";

const SIZE = { width: 200, height: 170, left: 24, right: 8, top: 8, bottom: 32 };
const WIDE = SIZE.width - SIZE.left - SIZE.right;
const TALL = SIZE.height - SIZE.top - SIZE.bottom;

const across = (share) => SIZE.left + WIDE * share;
const up = (share) => SIZE.top + TALL * (1 - share);
const at = (x, y) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`;

/** Return the path through `count` points; those too near to be told apart are left out, and those without a number. */
function pathOf(count, x, y) {
  let path = "", lastX = -9, lastY = -9;
  for (let place = 0; place < count; place++) {
    const right = x(place), above = y(place);
    if (Number.isNaN(right + above)) continue;
    const far = Math.abs(right - lastX) * WIDE + Math.abs(above - lastY) * TALL > 0.7;
    if (far || place === count - 1) {
      path += (path ? "L" : "M") + at(right, above);
      lastX = right;
      lastY = above;
    }
  }
  return path;
}

function picture(title, [xTitle, yTitle], lines, ticks = [[0, "0"], [0.5, "0.5"], [1, "1"]]) {
  const grid = [0, 0.5, 1].map((share) => draw("path", { class: "cp-grid", d: `M${at(0, share)}L${at(1, share)}` }));
  const xTicks = ticks.map(([share, text]) => draw("text", { x: across(share), y: up(0) + 13, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, text));
  const yTicks = [0, 0.5, 1].map((share) => draw("text", { x: SIZE.left - 5, y: up(share) + 3.5, "text-anchor": "end" }, String(share)));
  const paths = Object.fromEntries(lines.map((kind) => [kind, draw("path", { class: `cp-line cp-${kind}-line` })]));
  const mark = draw("line", { class: "cp-mark" });
  const dot = draw("circle", { class: "cp-dot", r: 4.5, cx: -20, cy: -20 });
  const about = draw("title", {}, title);
  const node = draw(
    "svg", { class: "cp-picture", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img" }, about, ...grid, ...xTicks, ...yTicks,
    draw("text", { class: "cp-axis", x: across(0.5), y: SIZE.height - 5, "text-anchor": "middle" }, xTitle),
    mark, ...Object.values(paths), dot,
  );
  const note = make("figcaption", {}, make("strong", {}, title), ` ${yTitle}`);
  return {
    node: make("figure", { class: "cp-figure" }, note, node),
    line: (kind, count, x, y) => put(paths[kind], "d", pathOf(count, x, y)),
    marked(x) {
      const here = Number.isFinite(x) ? across(x) : -20;
      for (const [name, value] of [["x1", here], ["x2", here], ["y1", up(0)], ["y2", up(1)]]) put(mark, name, value);
    },
    dotted(x, y) {
      put(dot, "cx", Number.isFinite(x + y) ? across(x).toFixed(1) : -20);
      put(dot, "cy", Number.isFinite(x + y) ? up(y).toFixed(1) : -20);
    },
    describe: (text) => say(about, `${title}: ${text}`),
  };
}

const REACH = 100;
const place = (factor) => 0.5 + Math.log(factor) / (2 * Math.log(REACH));

/** Return the four pictures: {node, update(cuts, parts, preferences, k)}. */
export function curvePictures() {
  const tradeoff = picture("Trade-off", ["recall weight", "best value, and of this decision"], ["own", "best"]);
  const pr = picture("Precision-recall", ["recall", "precision"], ["best"]);
  const roc = picture("ROC", ["false positive rate", "recall"], ["chance", "best"]);
  const ticks = [[0, "÷100"], [0.5, "now"], [1, "×100"]];
  const sweep = picture("Weight sweep", ["this class's weight", ""], ["recall", "precision", "loss"], ticks);
  const key = ["recall", "precision", "loss"].map((name) => make("span", { class: `cp-key cp-key-${name}` }, name));
  sweep.node.querySelector("figcaption").append(...key);
  roc.line("chance", 2, (end) => end, (end) => end);
  return {
    node: make("div", { class: "cp-pictures" }, tradeoff.node, pr.node, roc.node, sweep.node),
    update(cuts, parts, preferences, k) {
      drawTradeoff(tradeoff, cuts, parts, preferences, k);
      const rest = (wrong) => (cuts.negatives > 0 ? wrong / cuts.negatives : 0);
      const size = cuts.found.length;
      const recall = (c) => (cuts.positives > 0 ? cuts.found[c] / cuts.positives : NaN);
      const precision = (c) => cuts.found[c] / (cuts.found[c] + cuts.wrong[c]);
      pr.line("best", size, recall, precision);
      pr.dotted(parts.recall[k], parts.precision[k]);
      pr.describe(`recall ${parts.recall[k]}, precision ${parts.precision[k]}`);
      roc.line("best", size + 1, (c) => (c < size ? rest(cuts.wrong[c]) : 1), (c) => (c < size ? recall(c) : 1));
      roc.dotted(rest(parts.predicted[k] - parts.hits[k]), parts.recall[k]);
      roc.describe(`false positive rate ${rest(parts.predicted[k] - parts.hits[k])}, recall ${parts.recall[k]}`);
      drawSweep(sweep, cuts, parts, { recall, precision, loss: (c) => cuts.loss[c] });
    },
  };
}

function drawTradeoff(tradeoff, cuts, parts, preferences, k) {
  const metric = METRICS.indexOf(preferences.metric);
  const own = (weight) => metricValue(metric, parts.precision[k] || 0, parts.recall[k] || 0, weight);
  const weight = parts.goal.weight[k];
  const best = envelope(frontier(cuts), metric);
  tradeoff.line("best", best.length, (step) => best[step][0], (step) => best[step][1]);
  tradeoff.line("own", 41, (step) => step / 40, (step) => own(step / 40));
  tradeoff.marked(weight);
  tradeoff.dotted(weight, own(weight));
  tradeoff.describe(`at your recall weight ${weight.toFixed(3)} this decision is worth ${own(weight).toFixed(3)}`);
}

function drawSweep(sweep, cuts, parts, lines) {
  const { factor } = cuts;
  let begin = 0, end = factor.length;
  while (begin < end - 1 && factor[begin + 1] < 1 / REACH) begin++;
  while (end > begin + 1 && factor[end - 1] > REACH) end--;
  // one more point at either end: a line goes on as it is where nothing flips
  const size = end - begin + 1;
  const across = (c) => (c === 0 ? 0 : c === size - 1 ? 1 : place(factor[begin + c]));
  // steps: nothing changes between two flips
  const step = (point) => (point + 1) >> 1;
  for (const [kind, value] of Object.entries(lines)) {
    const height = (c) => value(Math.min(begin + c, end - 1));
    sweep.line(kind, 2 * size - 1, (point) => across(step(point)), (point) => height(step(point) - (point % 2)));
  }
  sweep.marked(0.5);
  sweep.dotted(0.5, parts.total);
  let least = Infinity;
  for (const loss of cuts.loss) least = Math.min(least, loss);
  sweep.describe(`the loss now is ${parts.total.toFixed(4)}, its lowest along this line ${least.toFixed(4)}`);
}
