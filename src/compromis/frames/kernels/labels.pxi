# Distinct texts of a column, numbered in the order in which they appear.

ctypedef struct Labels:
    uint64_t* hashes  # of each slot that is taken
    int32_t* codes  # of each slot, -1 where it is free
    size_t mask  # slots - 1; their number is a power of two
    char* bytes  # all labels, one after the other
    size_t room
    size_t* ends  # where each label ends
    size_t ends_room
    int32_t count


cdef bint open_labels(Labels* labels) noexcept nogil:
    """Make room for a first few labels; False where there is no memory."""
    memset(labels, 0, sizeof(Labels))
    labels.mask = 15
    labels.room = 64
    labels.ends_room = 8
    labels.hashes = <uint64_t*>malloc((labels.mask + 1) * sizeof(uint64_t))
    labels.codes = <int32_t*>malloc((labels.mask + 1) * sizeof(int32_t))
    labels.bytes = <char*>malloc(labels.room)
    labels.ends = <size_t*>malloc(labels.ends_room * sizeof(size_t))
    if labels.hashes == NULL or labels.codes == NULL or labels.bytes == NULL or labels.ends == NULL:
        return False
    memset(labels.codes, 0xFF, (labels.mask + 1) * sizeof(int32_t))
    return True


cdef void close_labels(Labels* labels) noexcept nogil:
    free(labels.hashes)
    free(labels.codes)
    free(labels.bytes)
    free(labels.ends)


cdef inline uint64_t mixed(uint64_t a, uint64_t b) noexcept nogil:
    cdef uint64_t high, low
    multiply(a, b, &high, &low)
    return high ^ low


cdef inline uint64_t hash_of(const char* text, size_t size, uint64_t seed) noexcept nogil:
    """A hash with a secret seed, so that nobody can write labels that share their slots."""
    cdef uint64_t word, state = seed ^ (size * <uint64_t>0x9E3779B97F4A7C15)
    while size >= 8:
        memcpy(&word, text, 8)
        state = mixed(state ^ word, <uint64_t>0xA0761D6478BD642F ^ seed)
        text += 8
        size -= 8
    word = 0
    memcpy(&word, text, size)
    return mixed(state ^ word, <uint64_t>0xE7037ED1A0B428DB ^ seed)


cdef bint make_room(Labels* labels, size_t size) noexcept nogil:
    """Make room for one more label of `size` bytes; False where there is no memory."""
    cdef size_t wanted, slot, k
    cdef uint64_t* hashes
    cdef int32_t* codes
    cdef void* grown
    cdef size_t used = labels.ends[labels.count - 1] if labels.count else 0
    if used + size > labels.room:
        wanted = 2 * (used + size)
        grown = realloc(labels.bytes, wanted)
        if grown == NULL:
            return False
        labels.bytes, labels.room = <char*>grown, wanted
    if <size_t>labels.count == labels.ends_room:
        grown = realloc(labels.ends, 2 * labels.ends_room * sizeof(size_t))
        if grown == NULL:
            return False
        labels.ends = <size_t*>grown
        labels.ends_room *= 2
    if 2 * <size_t>labels.count <= labels.mask:
        return True
    # Half of the slots are taken: four times as many, and every label finds a new one.
    wanted = 4 * (labels.mask + 1)
    hashes = <uint64_t*>malloc(wanted * sizeof(uint64_t))
    codes = <int32_t*>malloc(wanted * sizeof(int32_t))
    if hashes == NULL or codes == NULL:
        free(hashes)
        free(codes)
        return False
    memset(codes, 0xFF, wanted * sizeof(int32_t))
    for k in range(labels.mask + 1):
        if labels.codes[k] >= 0:
            slot = labels.hashes[k] & (wanted - 1)
            while codes[slot] >= 0:
                slot = (slot + 1) & (wanted - 1)
            hashes[slot], codes[slot] = labels.hashes[k], labels.codes[k]
    free(labels.hashes)
    free(labels.codes)
    labels.hashes, labels.codes, labels.mask = hashes, codes, wanted - 1
    return True


cdef int32_t code_of(Labels* labels, const char* text, size_t size, uint64_t seed) noexcept nogil:
    """Return the number of a label, a new one if it has none; -2 where there is no memory."""
    cdef uint64_t hashed = hash_of(text, size, seed)
    cdef size_t slot = hashed & labels.mask, begin
    cdef int32_t code = labels.codes[slot]
    while code >= 0:
        if labels.hashes[slot] == hashed:
            begin = labels.ends[code - 1] if code else 0
            if labels.ends[code] - begin == size and memcmp(labels.bytes + begin, text, size) == 0:
                return code
        slot = (slot + 1) & labels.mask
        code = labels.codes[slot]
    if not make_room(labels, size) or labels.count == 0x7FFFFFFF:
        return -2
    slot = hashed & labels.mask
    while labels.codes[slot] >= 0:
        slot = (slot + 1) & labels.mask
    code = labels.count
    begin = labels.ends[code - 1] if code else 0
    memcpy(labels.bytes + begin, text, size)
    labels.ends[code] = begin + size
    labels.hashes[slot], labels.codes[slot] = hashed, code
    labels.count += 1
    return code
