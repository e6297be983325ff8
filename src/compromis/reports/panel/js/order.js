// Sort indices by positive keys: a radix sort over the upper half of their bits, finished by insertion.

const DIGITS = [0, 11, 22];
const BUCKETS = new Int32Array(2048);

function insertionSort(keys, order, size, maxMoves) {
  let moves = 0;
  for (let i = 1; i < size; i++) {
    const entry = order[i];
    const key = keys[entry];
    let to = i;
    while (to > 0 && keys[order[to - 1]] > key) {
      order[to] = order[to - 1];
      to--;
    }
    order[to] = entry;
    moves += i - to;
    if (moves > maxMoves) return false;
  }
  return true;
}

/** Return the indices of the first `size` positive keys by rising key; `order` holds two scratch arrays. */
export function sortIndices(keys, order, size) {
  const bits = new Uint32Array(keys.buffer);
  let [from, to] = order;
  for (let i = 0; i < size; i++) from[i] = i;
  if (size > 48) {
    for (const digit of DIGITS) {
      // count the keys of each digit; one digit alone needs no pass
      BUCKETS.fill(0);
      for (let i = 0; i < size; i++) BUCKETS[(bits[2 * i + 1] >>> digit) & 2047]++;
      if (BUCKETS[(bits[1] >>> digit) & 2047] === size) continue;
      let total = 0;
      for (let bucket = 0; bucket < 2048; bucket++) {
        const inside = BUCKETS[bucket];
        BUCKETS[bucket] = total;
        total += inside;
      }
      // stable: entries keep the order of the digits before
      for (let i = 0; i < size; i++) {
        const entry = from[i];
        to[BUCKETS[(bits[2 * entry + 1] >>> digit) & 2047]++] = entry;
      }
      [from, to] = [to, from];
    }
  }
  // the lower bits are still unsorted: few moves, unless many keys are nearly equal
  if (!insertionSort(keys, from, size, 64 * size)) from.subarray(0, size).sort((a, b) => keys[a] - keys[b] || a - b);
  return from;
}
