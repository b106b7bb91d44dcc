// Numbers in text: parse_i64 reads eight digits at once, without a loop over them.
//
//   if (auto n = yunti::parse_i64("-42")) ..      // [+-]digits, without blanks
//
// To write a number, use std::to_chars. Emit the number itself if possible: it is sorted, folded and printed as a
// number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "../type.hpp"

namespace yunti {
namespace detail {

// Returns 1 to 8 digits as eight, with leading zeros. The first digit is in the lowest byte.
YUNTI_INLINE uint64_t padded_digits(const char* p, size_t n) {
  uint64_t raw;
  if (n == 8) return load<uint64_t>(p);
  if (n >= 4) {
    raw = load<uint32_t>(p) | static_cast<uint64_t>(load<uint32_t>(p + n - 4)) << (8 * (n - 4));
  } else {
    const auto byte = [p](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << (8 * i); };
    raw = byte(0) | byte(n / 2) | byte(n - 1);
  }
  return raw << (8 * (8 - n)) | 0x3030303030303030u >> (8 * n);
}

YUNTI_INLINE bool all_digits(uint64_t x) {
  return ((x & 0xF0F0F0F0F0F0F0F0u) | ((x + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4) == 0x3333333333333333u;
}

YUNTI_INLINE uint64_t eight_digits(uint64_t x) {
  x = (x & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
  x = (x & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
  return (x & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

}  // namespace detail

// Parses a decimal integer. nullopt: empty text, a byte that is no digit, or a number outside of -2^63 .. 2^63-1.
inline std::optional<int64_t> parse_i64(std::string_view text) {
  const char* p = text.data();
  size_t n = text.size();
  if (n == 0) return std::nullopt;
  const bool negative = *p == '-';
  if (negative || *p == '+') {
    ++p;
    --n;
  }
  while (YUNTI_UNLIKELY(n > 19) && *p == '0') {
    ++p;
    --n;
  }
  if (n == 0 || n > 19) return std::nullopt;
  const size_t head = (n - 1) % 8 + 1;
  uint64_t digits = detail::padded_digits(p, head);
  bool good = detail::all_digits(digits);
  uint64_t value = detail::eight_digits(digits);
  for (size_t i = head; i < n; i += 8) {
    digits = detail::load<uint64_t>(p + i);
    good &= detail::all_digits(digits);
    value = value * 100000000u + detail::eight_digits(digits);
  }
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + negative;
  if (!good || value > limit) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

}  // namespace yunti
