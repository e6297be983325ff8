// Vote patterns with their true classes, unpacked into typed arrays by row and by class.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[packed.type](bytes.buffer);
}

/** Return the patterns of a panel document. */
export function readPatterns(page) {
  const { evidence } = page;
  const classes = page.classes.length;
  const truth = Int32Array.from(unpack(evidence.truth));
  const multiplicity = Float64Array.from(unpack(evidence.multiplicity));
  const code = unpack(evidence.code);
  const values = evidence.values && Float64Array.from(evidence.values);
  const voted = unpack(evidence.voted);
  const bytes = Math.ceil(classes / 8);
  const rows = truth.length;
  const smoothing = evidence.smoothed ? 0 : page.smoothing || 0;
  const entries = smoothing > 0 ? rows * classes : code.length;
  const rowStart = new Int32Array(rows + 1);
  const rowClass = new Int32Array(entries);
  const rowValue = new Float64Array(entries);
  let from = 0, to = 0;
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < classes; k++) {
      const has = (voted[i * bytes + (k >> 3)] >> (k & 7)) & 1;
      const vote = has ? (values ? values[code[from]] : code[from]) : 0;
      from += has;
      if (vote + smoothing > 0) {
        rowClass[to] = k;
        rowValue[to++] = vote + smoothing;
      }
    }
    rowStart[i + 1] = to;
  }
  return withClassLists({
    classes, rows, truth, multiplicity, rowStart,
    rowClass: rowClass.subarray(0, to), rowValue: rowValue.subarray(0, to),
  });
}

function withClassLists(patterns) {
  const { classes, rows, rowStart, rowClass, rowValue, truth, multiplicity } = patterns;
  const classStart = new Int32Array(classes + 1);
  for (let e = 0; e < rowClass.length; e++) classStart[rowClass[e] + 1]++;
  for (let k = 0; k < classes; k++) classStart[k + 1] += classStart[k];
  const next = classStart.slice();
  const classRow = new Int32Array(rowClass.length);
  const classValue = new Float64Array(rowClass.length);
  const support = new Float64Array(classes);
  for (let i = 0; i < rows; i++) {
    support[truth[i]] += multiplicity[i];
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const entry = next[rowClass[e]]++;
      classRow[entry] = i;
      classValue[entry] = rowValue[e];
    }
  }
  return { ...patterns, classStart, classRow, classValue, support };
}

/** Return the confusion counts of given weights, rows the truth: the largest weight x votes decides, the first class at a tie. */
export function decide(patterns, weights) {
  const { classes, rows, rowStart, rowClass, rowValue, truth, multiplicity } = patterns;
  const counts = Array.from({ length: classes }, () => new Array(classes).fill(0));
  for (let i = 0; i < rows; i++) {
    let chosen = 0, best = 0;
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const score = weights[rowClass[e]] * rowValue[e];
      if (score > best) {
        best = score;
        chosen = rowClass[e];
      }
    }
    counts[truth[i]][chosen] += multiplicity[i];
  }
  return counts;
}
