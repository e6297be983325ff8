// Sorting places by positive numbers: a radix sort over the upper half of their bits, finished by insertion.

const DIGITS = [0, 11, 22];
const BUCKETS = new Int32Array(2048);

function insert(keys, order, count, most) {
  let moves = 0;
  for (let place = 1; place < count; place++) {
    const entry = order[place];
    const key = keys[entry];
    let to = place;
    while (to > 0 && keys[order[to - 1]] > key) {
      order[to] = order[to - 1];
      to--;
    }
    order[to] = entry;
    moves += place - to;
    if (moves > most) return false;
  }
  return true;
}

/** Write the places of the first `count` positive keys into order[0] by rising key; order[1] is scratch. */
export function sortPlaces(keys, bits, order, count) {
  let [from, to] = order;
  for (let place = 0; place < count; place++) from[place] = place;
  if (count > 48) {
    for (const digit of DIGITS) {
      BUCKETS.fill(0);
      for (let place = 0; place < count; place++) BUCKETS[(bits[2 * place + 1] >>> digit) & 2047]++;
      if (BUCKETS[(bits[1] >>> digit) & 2047] === count) continue;
      let total = 0;
      for (let bucket = 0; bucket < 2048; bucket++) {
        const size = BUCKETS[bucket];
        BUCKETS[bucket] = total;
        total += size;
      }
      for (let place = 0; place < count; place++) {
        const entry = from[place];
        to[BUCKETS[(bits[2 * entry + 1] >>> digit) & 2047]++] = entry;
      }
      [from, to] = [to, from];
    }
  }
  if (!insert(keys, from, count, 64 * count)) from.subarray(0, count).sort((a, b) => keys[a] - keys[b] || a - b);
  return from;
}
