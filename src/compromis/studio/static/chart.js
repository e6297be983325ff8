// The trade-off space as SVG: value over recall weight, one line per model, the preferences as an upright line.

import { el, shorten, svg } from "./elements.js";

const [WIDE, HIGH, LEFT, RIGHT, TOP, BELOW] = [760, 360, 56, 16, 16, 62];
const x = (weight) => LEFT + weight * (WIDE - LEFT - RIGHT);
let low = 0;
const y = (value) => TOP + ((1 - value) / (1 - low)) * (HIGH - TOP - BELOW);

/** Return the picture of a comparison; `mine` is the preferences for its class. */
export function tradeoffChart(found, mine) {
  const least = Math.min(...found.curves.flatMap((curve) => curve.value.filter((value) => value !== null)));
  low = Number.isFinite(least) ? Math.min(0.8, Math.max(0, Math.floor(10 * least - 0.5) / 10)) : 0;
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "chart", role: "img", "aria-label": found.verdict },
    grid(), winners(found), found.curves.map(line));
  const weight = mine && recallWeight(found.metric, mine);
  if (weight !== null && Number.isFinite(weight)) picture.append(...preferenceLine(weight));
  return el("figure", { class: "chart-place" }, picture);
}

function grid() {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const step = 1 - low > 0.5 ? 0.2 : 0.1;
  const upright = Array.from({ length: Math.floor((1 - low) / step + 1e-9) + 1 }, (_, k) => 1 - k * step);
  return svg("g", { class: "grid" },
    upright.map((tick) => svg("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(tick), y2: y(tick) })),
    upright.map((tick) => svg("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, Math.abs(tick).toFixed(1))),
    ticks.map((tick) => svg("text", { x: x(tick), y: HIGH - BELOW + 34, "text-anchor": "middle" }, tick.toFixed(1))),
    svg("text", { x: x(0.5), y: HIGH - 8, "text-anchor": "middle", class: "axis" }, "recall weight: precision matters ← → recall matters"),
    svg("text", { x: 14, y: HIGH / 2 - 24, transform: `rotate(-90 14 ${HIGH / 2 - 24})`, "text-anchor": "middle", class: "axis" }, "value"));
}

/** A strip below the curves: who is best where. */
function winners(found) {
  const place = new Map(found.curves.map((curve, number) => [curve.name, number]));
  return svg("g", {}, found.winners.map((one) => svg("rect", {
    x: x(one.low), width: Math.max(0.5, x(one.high) - x(one.low)), y: HIGH - BELOW + 6, height: 9,
    class: `best fill-${place.get(one.best[0]) % 8}`,
  }, svg("title", {}, `${one.best.join(" = ")} from ${one.low.toFixed(3)} to ${one.high.toFixed(3)}`))));
}

function line(curve, place) {
  const points = curve.value.map((value, k) => (value === null ? null : `${x(k / (curve.value.length - 1)).toFixed(1)},${y(value).toFixed(1)}`));
  return svg("polyline", { points: points.filter(Boolean).join(" "), class: `curve stroke-${place % 8}` }, svg("title", {}, shorten(curve.name)));
}

function preferenceLine(weight) {
  const left = weight > 0.8;
  return [
    svg("line", { x1: x(weight), x2: x(weight), y1: TOP, y2: HIGH - BELOW + 15, class: "preference-line" }),
    svg("text", { x: x(weight) + (left ? -6 : 6), y: TOP + 12, "text-anchor": left ? "end" : "start", class: "preference-text" }, `your preferences: ${weight.toFixed(2)}`),
  ];
}

/** The recall weight that the two answers mean for a metric; the formulas of compromis.metrics. */
export function recallWeight(metric, mine) {
  if (mine.recall_weight !== null && mine.recall_weight !== undefined) return mine.recall_weight;
  const [p, r] = [mine.precision_at_full_recall ?? 0.8, mine.recall_at_full_precision ?? 0.8];
  if (metric === "kulczynski") return (1 - p) / (1 - p + (1 - r));
  if (p === 0 || r === 0) return p === r ? 0.5 : Number(p === 0);
  if (metric === "f") return (r * (1 - p)) / (r * (1 - p) + p * (1 - r));
  if (metric === "fowlkes_mallows") return Math.log(p) / (Math.log(p) + Math.log(r));
  return p >= r ? (r * (1 - p)) / (2 * p * (1 - r)) : 1 - (p * (1 - r)) / (2 * r * (1 - p));
}
