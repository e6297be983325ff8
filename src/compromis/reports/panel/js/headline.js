// A result in rows of the classes that matter most: what compromis.measures.headline says, for counts that follow the sliders.

import { rates } from "./loss.js";
import { count, fixed } from "./elements.js";

const MOST_TOLD = 3;

const CONVENTIONS = [["0", "1"], ["-1", "1"], ["False", "True"], ["false", "true"]];

/** Return the position of the class that is positive by convention, also where labels were read as text; -1 where none is. */
function positiveByConvention(classes) {
  const names = classes.map(({ python }) => python.replace(/^'(.*)'$/, "$1").replace(/\.0$/, ""));
  const pair = CONVENTIONS.find((both) => names.length === 2 && both.every((name) => names.includes(name)));
  return pair ? names.indexOf(pair[1]) : -1;
}

/** Return the positions of the classes that matter most, the most important first; none where all matter alike. */
export function classesThatMatter({ cost, classes, positive }, support) {
  const size = classes.length;
  if (positive != null) return [positive];
  if (size < 2) return [];
  const worth = classes.map((preference, k) => (cost ? Math.max(...cost[k]) : preference.importance));
  const asked = classes.map((one) => one.min_precision > 0 || one.min_recall > 0 || (one.max_share ?? 1) < 1);
  const least = Math.min(...worth);
  const usual = positiveByConvention(classes);
  const order = worth.map((_, k) => k).sort((a, b) => worth[b] - worth[a] || asked[b] - asked[a] || (b === usual) - (a === usual) || support[a] - support[b]);
  if (size === 2) return order.slice(0, 1);
  const matters = worth.map((value, k) => value > least || asked[k]);
  return matters.every(Boolean) && worth.every((value) => value === worth[0]) ? [] : order.filter((k) => matters[k]);
}

const none = (number, word = "none") => (number ? count(number) : word);
const alarms = (number) => `${none(number, "no")} false alarm${number === 1 ? "" : "s"}`;

/** Return counts in rows: {classes: [{k, of, found, missed, alarms}], matters, rows, right}. */
export function headlineOf(counts, preferences) {
  const { support, predicted, hits, rows } = rates(counts);
  const chosen = classesThatMatter(preferences, support);
  const missed = hits.map((number, k) => support[k] - number);
  const told = chosen.length ? chosen : missed.map((_, k) => k).sort((a, b) => missed[b] - missed[a]);
  return {
    classes: told.map((k) => ({ k, of: support[k], found: hits[k], missed: missed[k], alarms: predicted[k] - hits[k] })),
    matters: chosen.length > 0, rows, right: hits.reduce((total, number) => total + number, 0),
  };
}

/** Return a headline as sentences. */
export function headlineSentences({ classes, matters, rows, right }, preferences) {
  if (!rows) return ["There are no rows."];
  const name = (k) => preferences.classes[k].rows ?? preferences.classes[k].text;
  const of = (number, { of: all, k }) => `${count(number)} of ${count(all)} ${name(k)}`;
  const share = right < rows ? `${fixed((100 * right) / rows, 1)} %` : "all";
  const most = MOST_TOLD + (classes.length === MOST_TOLD + 1);
  const whole = `${count(right)} of ${count(rows)} rows right (${share})`;
  if (!matters) {
    const worst = classes.filter((one) => one.missed).map((one) => of(one.missed, one));
    const list = worst.length > most ? [...worst.slice(0, most), `${worst.length - most} more`] : worst;
    const text = list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list.at(-1)}` : list.join("");
    return [`${whole}${text ? `; most missed: ${text}` : ""}.`];
  }
  const told = classes.slice(0, most).map((one) => `${of(one.found, one)} (misses ${none(one.missed)}), ${alarms(one.alarms)}`);
  const rest = classes.slice(most);
  if (rest.length) {
    const sum = (part) => rest.reduce((total, one) => total + one[part], 0);
    told.push(`${count(sum("found"))} of ${count(sum("of"))} rows of ${rest.length} more classes that matter (misses ${none(sum("missed"))})`);
  }
  return [`Finds ${told.join("; ")}.`, `${whole}.`];
}
