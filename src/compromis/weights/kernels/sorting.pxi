# Sorting of numbers of at least 0 that spread over their logarithms; equal ones stay in their order.

cdef void insertion_sort(const double* values, int* order, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Sort a short part of `order` by `values`, equal ones in their order."""
    cdef Py_ssize_t e, slot
    cdef int entry
    cdef double value
    for e in range(begin + 1, end):
        entry = order[e]
        value = values[entry]
        slot = e - 1
        while slot >= begin and values[order[slot]] > value:
            order[slot + 1] = order[slot]
            slot -= 1
        order[slot + 1] = entry


cdef void merge_sort(const double* values, int* order, int* spare, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Sort a part of `order` by `values`, equal ones in their order; `spare` has room for as many."""
    cdef Py_ssize_t low, middle, high, a, b, e, width = 8, count = end - begin
    cdef int* source = order + begin
    cdef int* target = spare
    # short runs by insertion, then merge runs of doubling width from one buffer into the other
    for low in range(begin, end, 8):
        insertion_sort(values, order, low, min(low + width, end))
    while width < count:
        low = 0
        while low < count:
            middle, high = min(low + width, count), min(low + 2 * width, count)
            a, b = low, middle
            for e in range(low, high):
                if b == high or (a < middle and values[source[a]] <= values[source[b]]):
                    target[e] = source[a]
                    a += 1
                else:
                    target[e] = source[b]
                    b += 1
            low += 2 * width
        source, target = target, source
        width *= 2
    if source == spare:
        for e in range(count):
            order[begin + e] = source[e]


cdef void write_order(
    const double* values, Py_ssize_t count, int* order, int* bucket, int* start
) noexcept nogil:
    """Write the positions of `values` of at least 0 from the smallest to the largest, equal ones in their order.

    `bucket` and `start` have room for `count` and for one more. The bits of such floats grow about as their logarithm:
    spread over as many buckets as there are values, most buckets hold a few.
    """
    cdef const long long* bits = <const long long*>values
    cdef Py_ssize_t e, b, begin, end
    cdef long long lowest, highest
    cdef double scale
    if count == 0:
        return
    # how many values fall into each bucket, and where it starts
    lowest, highest = bits[0], bits[0]
    for e in range(1, count):
        lowest, highest = min(lowest, bits[e]), max(highest, bits[e])
    scale = (count - 1) / max(<double>(highest - lowest), 1.0)
    for b in range(count + 1):
        start[b] = 0
    for e in range(count):
        b = min(<Py_ssize_t>((bits[e] - lowest) * scale), count - 1)
        bucket[e] = <int>b
        start[b] += 1
    end = 0
    for b in range(count):
        begin = end
        end += start[b]
        start[b] = <int>begin
    # deal them out in their order: each bucket's start becomes its end
    for e in range(count):
        b = bucket[e]
        order[start[b]] = <int>e
        start[b] += 1
    # then sort within each bucket; nobody needs the buckets of the values any more
    begin = 0
    for b in range(count):
        end = start[b]
        if end - begin > 24:
            merge_sort(values, order, bucket, begin, end)
        elif end - begin > 1:
            insertion_sort(values, order, begin, end)
        begin = end


def sort_order(const double[::1] values):
    """Return the positions of `values` of at least 0 from the smallest to the largest, equal ones in their order."""
    cdef Py_ssize_t count = values.shape[0]
    cdef int[::1] order = np.empty(count + 1, dtype=np.intc), bucket = np.empty_like(order), start = np.empty_like(order)
    if count > 0:
        write_order(&values[0], count, &order[0], &bucket[0], &start[0])
    return np.asarray(order)[:count]
