// What matters: metrics, recall weights from the two answers, and the preferences as TOML and as Python.

export const METRICS = ["kulczynski", "f", "fowlkes_mallows", "jaccard"];

/** Return the value of a metric; the formulas and limits of compromis.metrics. */
export function metricValue(metric, precision, recall, weight) {
  if (metric === 0) return (1 - weight) * precision + weight * recall;
  if (weight <= 0) return precision;
  if (weight >= 1) return recall;
  if (precision <= 0 || recall <= 0) return 0;
  if (metric === 1) return 1 / (weight / recall + (1 - weight) / precision);
  if (metric === 2) return precision ** (1 - weight) * recall ** weight;
  const both = precision * recall;
  return weight <= 0.5
    ? both / (recall + 2 * weight * precision * (1 - recall))
    : both / (precision + 2 * (1 - weight) * recall * (1 - precision));
}

/** Return the recall weight of one class's preference: as given, or what its two answers mean for the metric. */
export function recallWeight(metric, preference) {
  if (preference.recall_weight != null) return preference.recall_weight;
  const x = preference.precision_at_full_recall;
  const y = preference.recall_at_full_precision;
  if (metric === 0) return (1 - x) / (1 - x + (1 - y));
  if (x === 0 || y === 0) return x === y ? 0.5 : Number(x === 0);
  if (metric === 1) return (y * (1 - x)) / (y * (1 - x) + x * (1 - y));
  if (metric === 2) return Math.log(x) / (Math.log(x) + Math.log(y));
  return x >= y ? (y * (1 - x)) / (2 * x * (1 - y)) : 1 - (x * (1 - y)) / (2 * y * (1 - x));
}

/** Lay preferences out for a search or a loss: numbers per class, 0 where there is no minimum. */
export function layOut(preferences, support) {
  const metric = METRICS.indexOf(preferences.metric);
  const importance = preferences.classes.map((one, k) => (support[k] > 0 ? one.importance : 0));
  const total = importance.reduce((sum, one) => sum + one, 0);
  const floors = (name) => Float64Array.from(preferences.classes, (one, k) => (support[k] > 0 ? one[name] || 0 : 0));
  const minPrecision = floors("min_precision");
  const minRecall = floors("min_recall");
  return {
    metric, support, minPrecision, minRecall,
    share: Float64Array.from(importance, (one) => (total > 0 ? one / total : 0)),
    weight: Float64Array.from(preferences.classes, (one) => recallWeight(metric, one)),
    constrained: minPrecision.some((one) => one > 0) || minRecall.some((one) => one > 0),
    judged: total > 0,
  };
}

const FIELDS = ["importance", "precision_at_full_recall", "recall_at_full_precision", "recall_weight", "min_precision", "min_recall"];

function given(preference) {
  const answered = preference.recall_weight == null;
  return FIELDS.filter((name) => preference[name] != null && (answered || !name.includes("_at_full_")));
}

const key = (preference) => given(preference).map((name) => `${name}=${preference[name]}`).join();

/** Return the most common preference, and the classes that differ from it. */
function apart(preferences) {
  const often = new Map();
  for (const one of preferences.classes) often.set(key(one), (often.get(key(one)) || 0) + 1);
  const [common, times] = [...often].sort((a, b) => b[1] - a[1])[0];
  const usual = times > 1 ? preferences.classes.find((one) => key(one) === common) : null;
  return { usual, special: preferences.classes.filter((one) => usual === null || key(one) !== common) };
}

const float = (number) => (Number.isInteger(number) ? `${number}.0` : String(number));

/** Return the preferences as the TOML that compromis.Preferences.from_toml reads. */
export function toToml(preferences) {
  const { usual, special } = apart(preferences);
  const lines = (one) => given(one).map((name) => `${name} = ${float(one[name])}`);
  const parts = [[`metric = "${preferences.metric}"`]];
  if (usual) parts.push(["[default]", ...lines(usual)]);
  for (const one of special) parts.push(["[[class]]", `label = ${one.toml}`, ...lines(one)]);
  return parts.map((part) => part.join("\n")).join("\n\n") + "\n";
}

function pythonPreference(one) {
  return `cp.Preference(${given(one).map((name) => `${name}=${float(one[name])}`).join(", ")})`;
}

/** Return the line of Python that finds the weights of a state from y_true and y_proba. */
export function toPython(state) {
  const { preferences } = state;
  const { usual, special } = apart(preferences);
  const each = special.map((one) => `${one.python}: ${pythonPreference(one)}`).join(", ");
  const usually = usual ? `, default=${pythonPreference(usual)}` : "";
  const labels = preferences.classes.map((one) => one.python).join(", ");
  const smoothing = state.smoothing ? `, smoothing=${float(state.smoothing)}` : "";
  const python = `cp.Preferences({${each}}${usually}, metric="${preferences.metric}")`;
  return `cp.search_weights(y_true, y_proba, labels=[${labels}], preferences=${python}${smoothing})`;
}

/** Return the weights as the JSON that compromis.Decision.from_json reads. */
export function toDecision(state) {
  const labels = state.preferences.classes.map((one) => one.json).join(", ");
  const weights = Array.from(state.weights, float).join(", ");
  return (
    `{\n  "schema": "compromis/decision",\n  "version": 1,\n  "classes": [${labels}],\n` +
    `  "weights": [${weights}],\n  "smoothing": ${float(state.smoothing || 0)}\n}\n`
  );
}
