// Metrics, recall weights, and preferences as arrays by class.

export const METRICS = ["kulczynski", "f", "fowlkes_mallows", "jaccard"];
const NOT_ANSWERED = 0.8;

/** Return a metric's index in METRICS; formulas are chosen by it, so that an unknown name must not get one. */
export function metricIndex(name) {
  const index = METRICS.indexOf(name);
  if (index < 0) throw new RangeError(`there is no metric ${name}; choose one of ${METRICS.join(", ")}`);
  return index;
}

/** Return the value of a metric (its index in METRICS); the formulas and limits of compromis.metrics. */
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

/** Return the recall weight of a class: as given, or what its two answers mean for the metric. */
export function recallWeight(metric, preference) {
  if (preference.recall_weight != null) return preference.recall_weight;
  const x = preference.precision_at_full_recall ?? NOT_ANSWERED;
  const y = preference.recall_at_full_precision ?? NOT_ANSWERED;
  if (metric === 0) return (1 - x) / (1 - x + (1 - y));
  if (x === 0 || y === 0) return x === y ? 0.5 : Number(x === 0);
  if (metric === 1) return (y * (1 - x)) / (y * (1 - x) + x * (1 - y));
  if (metric === 2) return Math.log(x) / (Math.log(x) + Math.log(y));
  return x >= y ? (y * (1 - x)) / (2 * x * (1 - y)) : 1 - (x * (1 - y)) / (2 * y * (1 - x));
}

/** Return a recall weight as text: for f with the beta of the F measure, for kulczynski with the paper's R. */
export function weightText(metric, weight) {
  const odds = weight / (1 - weight);
  const also = [`R ${Number(odds.toPrecision(3))}`, `beta ${Number(Math.sqrt(odds).toPrecision(3))}`][metric];
  return also ? `${weight.toFixed(2)} (${also})` : weight.toFixed(2);
}

/** Return preferences as arrays for a search or a loss: 0 where a class has no minimum or does not occur, 1 without a capacity. */
export function preferenceArrays(preferences, support) {
  const { classes } = preferences;
  const metric = metricIndex(preferences.metric);
  const present = (name) => Float64Array.from(classes, (preference, k) => (support[k] > 0 ? preference[name] ?? 0 : 0));
  const [importance, minPrecision, minRecall] = ["importance", "min_precision", "min_recall"].map(present);
  const maxShare = Float64Array.from(classes, (preference) => preference.max_share ?? 1);
  const total = importance.reduce((sum, value) => sum + value, 0);
  return {
    metric, support, minPrecision, minRecall, maxShare,
    rows: support.reduce((sum, value) => sum + value, 0),
    cost: preferences.cost,
    unit: preferences.cost ? Math.max(...preferences.cost.flat().map(Math.abs), Number.MIN_VALUE) : 1,
    share: importance.map((value) => (total > 0 ? value / total : 0)),
    weight: Float64Array.from(classes, (preference) => recallWeight(metric, preference)),
    constrained: [...minPrecision, ...minRecall].some((minimum) => minimum > 0) || maxShare.some((most) => most < 1),
    judged: total > 0,
  };
}
