// Start and end positions of the words in a byte range, found 64 bytes at a time by masks.
// The separators are the same as in Java's StringTokenizer: space, tab, line feed, form feed, carriage return.
#pragma once
#include "bytes64.hpp"

// Returns a mask with bit i set if byte i is a separator. One shuffle maps the low nibble of each byte to the only
// separator with that nibble.
inline uint64_t separator_mask(const char* p) {
    return nibble_mask(p, _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 0, 12, 13, 0, 0));
}

inline bool is_separator(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
