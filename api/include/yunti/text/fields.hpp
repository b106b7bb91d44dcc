// Fields of a record: the text between delimiters. A record has one field more than delimiters; any field may be empty.
//
//   yunti::split("a,,b", ',', [&](std::string_view field) { .. });     // "a", "", "b"
//   std::optional<std::string_view> third = yunti::field(line, '\t', 2);
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "mask.hpp"

namespace yunti {

// Calls f(field) for each field of a record, in order; an empty record has one empty field.
template <class F>
YUNTI_INLINE void split(std::string_view record, char delimiter, F&& f) {
  const uint8_t* p = detail::octets(record.data());
  uint64_t start = 0;
  detail::each_match_and_end(p, record.size(), detail::IsByte{static_cast<uint8_t>(delimiter)},
      [&](uint64_t at) __attribute__((always_inline)) {
    f(detail::view(p + start, at - start));
    start = at + 1;
  });
}

// Returns field number `index`, counted from 0; nullopt if the record has fewer fields.
inline std::optional<std::string_view> field(std::string_view record, char delimiter, size_t index) {
  size_t start = 0;
  for (;;) {
    const size_t at = record.find(delimiter, start);  // memchr: vectorised by libc
    if (index-- == 0) return record.substr(start, at == std::string_view::npos ? at : at - start);
    if (at == std::string_view::npos) return std::nullopt;
    start = at + 1;
  }
}

}  // namespace yunti
