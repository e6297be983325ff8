// DOM helpers. Text from users is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

/** Return an HTML element; functions are listeners (`onclick`), null and false attributes are left out, strings become text. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Return an SVG element; attributes and children as for `make`. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Set the text if it differs: most cells do not change when a slider moves. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute if it differs. */
export function setAttribute(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Return a name that someone else chose, isolated from the writing direction of the text around it; its tooltip is whole. */
export function nameOf(text, short = text) {
  return make("bdi", { class: "cp-name", title: short !== text || text.length > 24 ? text : null }, short);
}

/** Format a number with decimals as Python does: exact ties go to the even digit. */
export function fixed(number, decimals) {
  const text = number.toFixed(decimals);
  const exact = number.toFixed(Math.min(100, decimals + 45));
  const rest = exact.slice(exact.indexOf(".") + 1 + decimals);
  if (!/^50*$/.test(rest)) return text;
  const cut = exact.slice(0, exact.indexOf(".") + 1 + decimals).replace(/\.$/, "");
  return Number(cut.at(-1)) % 2 === 0 ? cut : text;
}

/** Format a fraction as per cent, '?' where it is undefined. */
export function percent(fraction, decimals = 1) {
  return Number.isFinite(fraction) ? `${fixed(100 * fraction, decimals)} %` : "?";
}

/** Format a number with decimals, '?' where it is undefined. */
export const decimal = (number, decimals = 4) => (Number.isFinite(number) ? fixed(number, decimals) : "?");

/** Format a count: whole numbers with grouped digits, sums of weights with three digits, or all before the point. */
export function count(number) {
  const digits = Number.isInteger(number) || number >= 99.95 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return number.toLocaleString("en-GB", { ...digits, roundingMode: "halfEven" });
}

/** Return a bar for a fraction, with a tick for a second one: {node, set(fraction, tick)}. */
export function bar(kind) {
  const value = draw("rect", { class: `cp-fill cp-${kind}`, x: 0, y: 3, height: 8, width: 0, rx: 1.5 });
  const tick = draw("rect", { class: "cp-tick", x: 0, y: 0, width: 2, height: 14 });
  const track = draw("rect", { class: "cp-track", x: 0, y: 3, height: 8, width: 100, rx: 1.5 });
  const node = draw("svg", { class: "cp-bar", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" }, track, value, tick);
  return {
    node,
    set(fraction, before) {
      setAttribute(value, "width", Number.isFinite(fraction) ? (100 * fraction).toFixed(2) : 0);
      setAttribute(tick, "x", Number.isFinite(before) ? (98 * before).toFixed(2) : -10);
    },
  };
}
