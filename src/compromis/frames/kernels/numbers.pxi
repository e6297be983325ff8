# Decimal numbers, rounded as Python rounds them (Eisel and Lemire 2020); what is not decided here goes to float() itself.

cdef enum:
    LEAST = -348  # exponents of ten in the table
    MOST = 347

cdef uint64_t POWER_HIGH[MOST - LEAST + 1]
cdef uint64_t POWER_LOW[MOST - LEAST + 1]


def _fill_powers():
    """Fill the table with the first 128 bits of each power of ten, rounded down."""
    for exponent in range(LEAST, MOST + 1):
        power = 10 ** abs(exponent)
        # one over a power needs more bits than the 128 that are kept
        bits = power << 128 if exponent >= 0 else (1 << (2 * power.bit_length() + 128)) // power
        bits >>= bits.bit_length() - 128
        POWER_HIGH[exponent - LEAST] = <uint64_t>(bits >> 64)
        POWER_LOW[exponent - LEAST] = <uint64_t>(bits & 0xFFFFFFFFFFFFFFFF)


_fill_powers()


cdef inline void multiply(uint64_t a, uint64_t b, uint64_t* high, uint64_t* low) noexcept nogil:
    """Write the 128 bits of a product."""
    cdef uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32
    cdef uint64_t first = a0 * b0, second = a1 * b0, third = a0 * b1
    cdef uint64_t middle = (first >> 32) + (second & 0xFFFFFFFFu) + (third & 0xFFFFFFFFu)
    high[0] = a1 * b1 + (second >> 32) + (third >> 32) + (middle >> 32)
    low[0] = (middle << 32) | (first & 0xFFFFFFFFu)


cdef inline int leading_zeros(uint64_t number) noexcept nogil:
    cdef int zeros = 0
    while not number >> 56:
        number <<= 8
        zeros += 8
    while not number >> 63:
        number <<= 1
        zeros += 1
    return zeros


cdef bint to_double(uint64_t digits, int exponent, bint negative, double* number) noexcept nogil:
    """Write digits * 10^exponent, correctly rounded; False where 128 bits of the power do not decide."""
    cdef uint64_t high, low, more_high, more_low, top, mantissa, bits
    cdef int64_t binary
    cdef int zeros
    bits = <uint64_t>1 << 63 if negative else 0
    if digits == 0:
        memcpy(number, &bits, 8)
        return True
    if exponent < LEAST or exponent > MOST:
        return False
    zeros = leading_zeros(digits)
    digits <<= zeros
    binary = ((<int64_t>217706 * exponent) >> 16) + 64 + 1023 - zeros
    multiply(digits, POWER_HIGH[exponent - LEAST], &high, &low)
    # The power is rounded down. Where its missing part could carry into the bits that count, use its second half too.
    if (high & 0x1FF) == 0x1FF and low + digits < digits:
        multiply(digits, POWER_LOW[exponent - LEAST], &more_high, &more_low)
        if low + more_high < low:
            high += 1
        low += more_high
        if (high & 0x1FF) == 0x1FF and low + 1 == 0 and more_low + digits < digits:
            return False
    # 54 bits; the last one decides how the others are rounded, and exactly half is left to others.
    top = high >> 63
    mantissa = high >> (top + 9)
    binary -= 1 ^ top
    if low == 0 and (high & 0x1FF) == 0 and (mantissa & 3) == 1:
        return False
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >> 53:
        mantissa >>= 1
        binary += 1
    if binary < 1 or binary >= 0x7FF:  # subnormal or infinite
        return False
    bits |= (<uint64_t>binary << 52) | (mantissa & ((<uint64_t>1 << 52) - 1))
    memcpy(number, &bits, 8)
    return True


cdef bint parse_number(const unsigned char* text, Py_ssize_t size, double* number) noexcept nogil:
    """Write the number that a plain decimal text means; False for any other text, and where float() must decide."""
    cdef const unsigned char* end = text + size
    cdef uint64_t digits = 0
    cdef int count = 0, exponent = 0, written = 0
    cdef bint negative = False, down = False, seen = False
    while text < end and text[0] == 32:
        text += 1
    while text < end and (end - 1)[0] == 32:
        end -= 1
    if text < end and (text[0] == 43 or text[0] == 45):
        negative = text[0] == 45
        text += 1
    # Digits before and after the point: up to 19 that count fit into 64 bits.
    while text < end and 48 <= text[0] <= 57:
        digits = digits * 10 + (text[0] - 48)
        count += digits > 0
        seen = True
        text += 1
    if text < end and text[0] == 46:
        text += 1
        while text < end and 48 <= text[0] <= 57:
            digits = digits * 10 + (text[0] - 48)
            count += digits > 0
            exponent -= 1
            seen = True
            text += 1
    if not seen or count > 19:
        return False
    if text < end and (text[0] | 32) == 101:
        text += 1
        if text < end and (text[0] == 43 or text[0] == 45):
            down = text[0] == 45
            text += 1
        if text == end:
            return False
        while text < end and 48 <= text[0] <= 57:
            written = written * 10 + (text[0] - 48)
            if written > 9999:
                return False
            text += 1
        exponent += -written if down else written
    return text == end and to_double(digits, exponent, negative, number)


def read_number(bytes text):
    """Return the number that a text means to the kernel alone, None where it leaves the answer to float()."""
    cdef double number
    return number if parse_number(<const unsigned char*><char*>text, len(text), &number) else None
