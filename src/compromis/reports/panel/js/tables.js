// Tables that sort by a click on a heading, and find a class among many.

import { make } from "./elements.js";

const MANY_ROWS = 15;

const wholeText = (cell) => Array.from(cell.childNodes, (node) => (node.nodeName === "SMALL" ? "" : node.textContent)).join("").trim();
const fullName = (cell) => cell.querySelector(".cp-name")?.title || wholeText(cell);

/** Return what a cell is sorted by: a name, or a number; undefined ones count as the least. */
function keyOf(cell) {
  if (cell.nodeName === "TH") return fullName(cell);
  const number = parseFloat(wholeText(cell).replaceAll(",", ""));
  return Number.isNaN(number) ? -Infinity : number;
}

const byKey = (a, b) => (typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : b - a);

/** Make each heading a button that sorts the rows: numbers fall, names rise; once more turns the order. */
export function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", class: "cp-sort", title: "Sort by this column", onclick: () => {
      const again = head.hasAttribute("aria-sort");
      const turned = again && head.dataset.turned !== "1" ? -1 : 1;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.dataset.turned = turned < 0 ? "1" : "";
      head.setAttribute("aria-sort", (column === 0) === (turned > 0) ? "ascending" : "descending");
      const rows = Array.from(body.rows, (row) => [keyOf(row.cells[column]), row]);
      body.append(...rows.sort(([a], [b]) => turned * byKey(a, b)).map(([, row]) => row));
    } });
    button.append(...head.childNodes);
    head.append(button);
  });
}

/** Return a field that hides the rows of a table without a text; null for a table of few rows. */
export function finder(table) {
  const rows = Array.from(table.tBodies[0].rows);
  if (rows.length <= MANY_ROWS) return null;
  const input = make("input", { type: "search", placeholder: `find among ${rows.length} classes`, "aria-label": "Find a class", oninput: () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !fullName(row.cells[0]).toLowerCase().includes(wanted);
  } });
  return make("div", { class: "cp-finder" }, input);
}
