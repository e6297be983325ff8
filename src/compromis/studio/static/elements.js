// Elements from data: text is always text, never markup.

/** Make an element; `on…` are listeners, `class`, `data-…` and `aria-…` attributes, everything else properties. */
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) {
      if (value !== null && value !== false) made.setAttribute(name, value);
    } else made[name] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Make an SVG element. */
export function svg(tag, given = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...children.flat());
  return made;
}

/** Text with letters that cannot be seen, or that turn the text around, spelled out. */
export const spelled = (text) => text.replace(/[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu, (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`);

/** A name that someone else chose: kept apart from the text around it, whatever its direction and length. */
export const named = (text) => el("bdi", { class: "name", title: spelled(text) }, spelled(text));

/** A labelled control; the label names it. */
export function field(label, control, hint = null) {
  return el("label", { class: "field" }, el("span", { class: "field-name" }, label), control, hint && el("small", {}, hint));
}

/** A choice among [value, text] pairs. */
export function choice(pairs, chosen, onchange, given = {}) {
  const made = el("select", { onchange: () => onchange(made.value), ...given },
    pairs.map(([value, text]) => el("option", { value, selected: value === chosen, title: spelled(text) }, shorten(spelled(text)))));
  return made;
}

/** Text of at most 60 characters, for places that cannot wrap. */
export const shorten = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

/** A place for errors beside what caused them. */
export function errorPlace() {
  const place = el("p", { class: "error", role: "alert", hidden: true });
  place.show = (text) => {
    place.textContent = text;
    place.hidden = !text;
  };
  return place;
}

export const percent = (share) => (share === null || Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)} %`);

export function size(bytes) {
  for (const [unit, most] of [["B", 1e3], ["kB", 1e6], ["MB", 1e9]]) {
    if (bytes < most) return `${(bytes / (most / 1e3)).toPrecision(3).replace(/\.0+$/, "")} ${unit}`;
  }
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
