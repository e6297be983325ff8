# RFC 4180, strictly: records and cells of delimited text that comes in blocks.

cdef enum State:
    RECORD  # before a record
    CELL  # before a cell
    PLAIN  # inside an unquoted cell
    QUOTED  # inside a quoted one
    QUOTE  # after a quote inside a quoted one: its end, or the first of two
    RETURN  # after a carriage return, which a line feed may follow

cdef enum Kind:
    SKIPPED
    TEXT
    NUMBER

cdef enum Error:
    RAGGED_RECORD = 1
    TEXT_AFTER_QUOTE
    OPEN_QUOTE
    LONG_RECORD
    OUT_OF_MEMORY

ERRORS = {RAGGED_RECORD: "ragged", TEXT_AFTER_QUOTE: "after quote", OPEN_QUOTE: "open quote", LONG_RECORD: "long", OUT_OF_MEMORY: "memory"}
TEXT_KIND, NUMBER_KIND = TEXT, NUMBER

cdef uint64_t NAN_BITS = 0x7FF8000000000000
cdef uint64_t MISSING_BITS = NAN_BITS + 1  # a NaN that stands for an empty cell; NAN_BITS + 2 + k for text k, which is no number


cdef class Cells:
    """Reads the wanted columns of delimited text, block by block.

    Attributes
    ----------
    error : int
        0, or what is wrong with the record.
    record : int
        Which record is read, blank lines included.
    column : int
        Which column of it.
    """

    cdef readonly int error
    cdef long long feeds, returns, pairs, blanks, quotes  # line ends by kind, blank lines, quotes inside unquoted cells
    cdef readonly long long record
    cdef readonly Py_ssize_t column
    cdef unsigned char ends_plain[256]
    cdef unsigned char delimiter
    cdef Py_ssize_t width, texts, longest, rows
    cdef long long record_size
    cdef State state
    cdef bint pending
    cdef unsigned char* kinds
    cdef int32_t* places
    cdef Labels* labels
    cdef Py_ssize_t labels_count
    cdef char* held
    cdef Py_ssize_t held_size, held_room
    cdef uint64_t seed
    cdef int32_t* codes
    cdef double* numbers
    cdef Py_ssize_t room

    def __cinit__(self, int delimiter, const unsigned char[::1] kinds, long long record, Py_ssize_t longest, uint64_t seed):
        cdef Py_ssize_t k, texts = 0, numbers = 0
        self.delimiter, self.width, self.record, self.longest, self.seed = delimiter, kinds.shape[0], record, longest, seed
        self.state = RECORD
        memset(self.ends_plain, 0, 256)
        self.ends_plain[delimiter] = self.ends_plain[10] = self.ends_plain[13] = 1
        self.ends_plain[34] = 2  # it does not end the cell, but others may think so
        self.kinds = <unsigned char*>malloc(max(1, self.width))
        self.places = <int32_t*>malloc(max(1, self.width) * sizeof(int32_t))
        if self.kinds == NULL or self.places == NULL:
            raise MemoryError
        for k in range(self.width):
            self.kinds[k] = kinds[k]
            texts += kinds[k] == TEXT
        self.texts = texts
        texts = 0
        for k in range(self.width):
            if kinds[k] == TEXT:
                self.places[k] = texts
                texts += 1
            elif kinds[k] == NUMBER:
                self.places[k] = numbers
                numbers += 1
        # one set of labels per column of texts, and one per column of numbers for what is none
        self.labels = <Labels*>calloc(max(1, texts + numbers), sizeof(Labels))
        if self.labels == NULL:
            raise MemoryError
        for k in range(texts + numbers):
            self.labels_count = k + 1
            if not open_labels(&self.labels[k]):
                raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.labels_count):
            close_labels(&self.labels[k])
        free(self.labels)
        free(self.kinds)
        free(self.places)
        free(self.held)

    def read(self, const unsigned char[::1] block, int32_t[:, ::1] codes, double[:, ::1] numbers):
        """Write the cells of the rows that end in a block; return the number of rows.

        Codes are numbers of labels, -1 for an empty cell; a cell that is no number is a NaN that `labels` explains. The row
        after the last holds the first cells of a row that has not ended: move it to the front before the next block.
        """
        self._take(codes, numbers)
        if block.shape[0]:
            with nogil:
                self._read(&block[0], block.shape[0])
        return self.rows

    def close(self, int32_t[:, ::1] codes, double[:, ::1] numbers):
        """Write the last row if no line end follows it; return the number of rows."""
        self._take(codes, numbers)
        if self.state == QUOTED:
            self.error = OPEN_QUOTE
        elif self.state not in (RECORD, RETURN):
            self._end_cell(NULL, 0)
            if not self.error:
                self._end_record()
        return self.rows

    def labels_of(self, Py_ssize_t place, Py_ssize_t first):
        """Return the texts from number `first` on: of the columns of texts, then of those of numbers."""
        cdef Labels* labels = &self.labels[place]
        cdef size_t begin
        found = []
        for code in range(first, labels.count):
            begin = labels.ends[code - 1] if code else 0
            found.append(labels.bytes[begin:labels.ends[code]].decode("utf-8"))
        return found

    def label_count(self, Py_ssize_t place):
        """Return how many texts a column has."""
        return self.labels[place].count

    def error_name(self):
        """Return what is wrong with the record."""
        return ERRORS[self.error]

    def oddities(self, str header_end):
        """Return what other readers may take in another way; `header_end` is how the line of the header ends."""
        kinds = bool(self.feeds) + bool(self.pairs) + bool(self.returns)
        same = {"": True, "\n": self.feeds > 0, "\r\n": self.pairs > 0, "\r": False}
        found = {
            "blank lines": self.blanks,
            "a quote inside an unquoted cell": self.quotes,
            "line ends of several kinds": kinds > 1 or self.returns or (kinds and not same[header_end]),
        }
        return {what for what, there in found.items() if there}

    @property
    def texts_held(self):
        """How many different texts are held."""
        return sum(self.labels[k].count for k in range(self.labels_count))

    @property
    def letters_held(self):
        """How many bytes they have."""
        return sum(self.labels[k].ends[self.labels[k].count - 1] for k in range(self.labels_count) if self.labels[k].count)

    cdef void _take(self, int32_t[:, ::1] codes, double[:, ::1] numbers):
        self.room = codes.shape[1]
        self.codes = &codes[0, 0] if codes.shape[0] else NULL
        self.numbers = &numbers[0, 0] if numbers.shape[0] else NULL
        self.rows = 0

    cdef void _read(self, const unsigned char* block, Py_ssize_t size) noexcept nogil:
        cdef const unsigned char* here = block
        cdef const unsigned char* end = block + size
        cdef const unsigned char* start = block  # of the part of the cell in this block
        cdef const unsigned char* record_start = block
        cdef const unsigned char* ends_plain = self.ends_plain
        while here < end and not self.error:
            if self.state == RETURN:
                self.state = RECORD
                if here[0] == 10:
                    self.returns -= 1
                    self.pairs += 1
                    here += 1
                    continue
            if self.state == RECORD:
                if here[0] == 10 or here[0] == 13:  # a blank line
                    self.blanks += 1
                    self._count_end(here[0])
                    self.state = RETURN if here[0] == 13 else RECORD
                    self.record += 1
                    here += 1
                    continue
                self.column = 0
                self.record_size = 0
                record_start = here
                self.state = CELL
            if self.state == CELL:
                self.state = PLAIN
                if here[0] == 34:
                    self.state = QUOTED
                    here += 1
                start = here
                if here == end:
                    break
            if self.state == PLAIN:
                while True:
                    # most bytes: nothing is written between them, which a byte of the text might alias
                    while here < end and ends_plain[here[0]] == 0:
                        here += 1
                    if here == end or ends_plain[here[0]] == 1:
                        break
                    self.quotes += 1
                    here += 1
                if here == end:
                    self._hold(start, here - start)
                    break
                if self.pending or self._wanted():
                    self._end_cell(start, here - start)
            elif self.state == QUOTED:
                while here < end and here[0] != 34:
                    here += 1
                if here == end:
                    self._hold(start, here - start)
                    break
                here += 1
                self.state = QUOTE
                if here == end or here[0] == 34:  # two quotes stand for one; what the next block begins with is not known yet
                    self._hold(start, here - 1 - start)
                    start = here
                    continue
                if self.ends_plain[here[0]] == 1:
                    self._end_cell(start, here - 1 - start)
                else:
                    self.error = TEXT_AFTER_QUOTE
                    break
            else:  # QUOTE, with everything so far held
                if here[0] == 34:
                    start = here
                    here += 1
                    self.state = QUOTED
                    if here == end:
                        self._hold(start, 1)
                    continue
                if self.ends_plain[here[0]] != 1:
                    self.error = TEXT_AFTER_QUOTE
                    break
                self._end_cell(here, 0)
            # The cell has ended at a delimiter or at the end of its record.
            if self.error:
                break
            if here[0] == self.delimiter:
                self.column += 1
                self.state = CELL
                here += 1
                if here == end:
                    break
            else:
                self.record_size += here - record_start
                self.state = RETURN if here[0] == 13 else RECORD
                self._count_end(here[0])
                self._end_record()
                here += 1
        if not self.error and self.state != RECORD and self.state != RETURN:
            self.record_size += end - record_start
            if self.record_size > self.longest:
                self.error = LONG_RECORD

    cdef inline void _count_end(self, unsigned char end) noexcept nogil:
        self.feeds += end == 10
        self.returns += end == 13

    cdef inline bint _wanted(self) noexcept nogil:
        return self.column < self.width and self.kinds[self.column] != SKIPPED

    cdef void _hold(self, const unsigned char* text, Py_ssize_t size) noexcept nogil:
        """Keep a part of a cell, of which more is to come."""
        cdef void* grown
        self.pending = True
        if size <= 0 or not self._wanted():
            return
        if self.held_size + size > self.held_room:
            self.held_room = 2 * (self.held_size + size)
            grown = realloc(self.held, self.held_room)
            if grown == NULL:
                self.error = OUT_OF_MEMORY
                return
            self.held = <char*>grown
        memcpy(self.held + self.held_size, text, size)
        self.held_size += size

    cdef void _end_cell(self, const unsigned char* text, Py_ssize_t size) noexcept nogil:
        """Write a cell, of which this is the last part."""
        if self.pending:
            self._hold(text, size)
            text, size = <const unsigned char*>self.held, self.held_size
            self.pending, self.held_size = False, 0
        if self.error or not self._wanted():
            return
        cdef Py_ssize_t place = self.places[self.column]
        cdef int32_t code = -1
        cdef double* number
        cdef uint64_t bits
        if self.kinds[self.column] == TEXT:
            if size:
                code = code_of(&self.labels[place], <const char*>text, size, self.seed)
            self.codes[place * self.room + self.rows] = code
        else:
            number = &self.numbers[place * self.room + self.rows]
            bits = MISSING_BITS
            if size == 0:
                memcpy(number, &bits, 8)
            elif not parse_number(text, size, number):
                code = self._parse_slowly(place, text, size, number)
        if code == -2:
            self.error = OUT_OF_MEMORY

    cdef int32_t _parse_slowly(self, Py_ssize_t place, const unsigned char* text, Py_ssize_t size, double* number) noexcept nogil:
        """Let float() decide; a text that is no number becomes a NaN with its number. -2 where there is no memory."""
        cdef double plain = 0
        cdef int32_t code = -1
        cdef uint64_t bits
        if not as_python(text, size, &plain):
            code = code_of(&self.labels[self.texts + place], <const char*>text, size, self.seed)
            bits = NAN_BITS + 2 + <uint64_t>max(0, code)
            memcpy(number, &bits, 8)
        elif plain != plain:
            memcpy(number, &NAN_BITS, 8)
        else:
            number[0] = plain
        return code

    cdef void _end_record(self) noexcept nogil:
        if self.column + 1 != self.width:
            self.error = RAGGED_RECORD
        elif self.record_size > self.longest:
            self.error = LONG_RECORD
        else:
            self.rows += 1
            self.record += 1


cdef bint as_python(const unsigned char* text, Py_ssize_t size, double* number) noexcept with gil:
    """Write what float() makes of a text; False if it is no number."""
    try:
        number[0] = float((<char*>text)[:size].decode("utf-8"))
    except ValueError:
        return False
    return True
