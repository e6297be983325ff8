// Elements of the studio, on top of those of the panel. Text from users is set as text, never as markup.

import { make, nameOf } from "./panel.js";

/** Return text with invisible characters and those that change the writing direction spelled out. */
export const spelled = (text) => text.replace(/[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu, (letter) => `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`);

/** Return a name that someone else chose, readable whatever its characters and writing direction. */
export function named(text) {
  const name = nameOf(spelled(text));
  name.classList.add("name");
  return name;
}

/** Return a labelled control. */
export function field(label, control, hint = null) {
  return make("label", { class: "field" }, make("span", { class: "field-name" }, label), control, hint && make("small", {}, hint));
}

/** Return a select of [value, text] pairs; `changed` gets the new value. */
export function choice(pairs, chosen, changed, attributes = {}) {
  const options = pairs.map(([value, text]) => make("option", { value, selected: value === chosen, title: spelled(text) }, shorten(spelled(text))));
  const select = make("select", { onchange: () => changed(select.value), ...attributes }, options);
  return select;
}

/** Replace what an element holds; who was at a control by keyboard is at the new one of the same id. */
export function refill(root, ...children) {
  const id = root.contains(document.activeElement) ? document.activeElement.id : "";
  root.replaceChildren(...children);
  if (id) document.getElementById(id)?.focus({ preventScroll: true });
}

/** Return text of at most 60 characters, for elements that cannot wrap. */
export const shorten = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

/** Return an alert beside what causes errors; `show` sets its text. */
export function errorMessage() {
  const message = make("p", { class: "error", role: "alert", hidden: true });
  message.show = (text) => {
    message.textContent = text;
    message.hidden = !text;
  };
  return message;
}

/** Format a number of bytes. */
export function size(bytes) {
  for (const [unit, most] of [["B", 1e3], ["kB", 1e6], ["MB", 1e9]]) {
    if (bytes < most) return `${(bytes / (most / 1e3)).toPrecision(3).replace(/\.0+$/, "")} ${unit}`;
  }
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
