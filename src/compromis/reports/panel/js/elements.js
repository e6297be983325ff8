// Small pieces of the page. Everything that comes from the user is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat());
  return element;
}

/** Return an HTML element with attributes and children; strings become text. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Return an SVG element with attributes and children. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Set an element's text if it differs: most cells do not change when a slider moves. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute if it differs. */
export function put(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Return a class's name: its own direction of writing, never markup. */
export function nameOf(text) {
  return make("bdi", { class: "cp-name", title: text.length > 24 ? text : null }, text);
}

/** Write a share as per cent, '?' where it is undefined. */
export function percent(share, decimals = 1) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(decimals)} %` : "?";
}

/** Write a count: whole numbers with thin groups, sums of weights with two decimals. */
export function count(number) {
  const whole = Number.isInteger(number);
  return number.toLocaleString("en-GB", { minimumFractionDigits: whole ? 0 : 2, maximumFractionDigits: whole ? 0 : 2 });
}

/** Return a bar for a share from 0 to 1 with a tick for a second one: {node, set(share, tick)}. */
export function bar(kind) {
  const value = draw("rect", { class: `cp-fill cp-${kind}`, x: 0, y: 3, height: 8, width: 0, rx: 1.5 });
  const tick = draw("rect", { class: "cp-tick", x: 0, y: 0, width: 2, height: 14 });
  const track = draw("rect", { class: "cp-track", x: 0, y: 3, height: 8, width: 100, rx: 1.5 });
  const node = draw("svg", { class: "cp-bar", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" }, track, value, tick);
  return {
    node,
    set(share, before) {
      put(value, "width", Number.isFinite(share) ? (100 * share).toFixed(2) : 0);
      put(tick, "x", Number.isFinite(before) ? (98 * before).toFixed(2) : -10);
    },
  };
}
