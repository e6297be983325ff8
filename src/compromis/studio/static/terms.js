// What the words of the studio mean: a button beside a word opens its explanation.

import { make } from "./panel.js";

export const TERMS = {
  "votes": "What a model says about a row: a probability, or a share of votes, for each class. They must come from a model that did not see the row when it learned.",
  "patterns": "Rows with the same votes and the same true class are kept once, with their number. Fewer patterns, quicker answers.",
  "found": "Rows of the class that are predicted as it. The others are missed.",
  "false alarms": "Rows of other classes that are predicted as this one.",
  "recall": "Of the rows that truly are of the class, the share that is found.",
  "precision": "Of the rows that are predicted as the class, the share that truly is of it: of 100 alarms, how many are right.",
  "recall weight": "How much finding more counts beside raising fewer false alarms: 0 is precision alone, 1 is recall alone. Your answers say it.",
  "importance": "How much a class counts beside the others; 1 is an ordinary class.",
  "precision at full recall": "The precision you would accept if every row of the class were found.",
  "recall at full precision": "The share you would accept to find if no alarm were false.",
  "loss": "How far a result is from perfect by your preferences: 0 is perfect, 1 the worst. The mean over the classes of 1 minus the metric, by importance.",
  "metric": "How precision and recall become one number, by the recall weight. f is the F measure; the others are for reproducing papers.",
  "value": "The metric of a result for one class: 1 is perfect.",
  "area": "The mean value of a model over all recall weights: good for nobody in particular, but good on the whole.",
  "best for": "The share of the recall weights at which the model is the best of those compared.",
  "weights": "One number per class by which its votes are multiplied before the largest one decides. This is all that tuning changes.",
};

let last = 0;

/** Return a word with a button that explains it. */
export function term(name, text = name) {
  const id = `term-${++last}`;
  const body = make("span", { id, class: "term-text", popover: "auto", role: "note" }, make("b", {}, name), ` ${TERMS[name]}`);
  const button = make("button", { type: "button", class: "term", popovertarget: id, "aria-label": `What is ${name}?` }, "?");
  return make("span", { class: "termed" }, text, " ", button, body);
}

/** Return all words with their explanations. */
export function glossary() {
  const rows = Object.entries(TERMS).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
  return make("details", { class: "card glossary" }, make("summary", {}, "What the words mean"), make("dl", {}, rows));
}
