// Lines of a text, cut as Hadoop cuts them: each ends with LF, CR LF or CR; the last may lack its end. Line ends are
// not part of a line.
//
//   yunti::lines(span.text, [&](std::string_view line) { .. });
//   yunti::key_values(span.text, '\t', [&](std::string_view key, std::string_view value) { .. });
//
// key_values cuts each line at the first separator in the same pass. Without a separator the whole line is the key and
// the value is empty, as in Hadoop's KeyValueTextInputFormat. Its data() is then null, which marks the missing
// separator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mask.hpp"

namespace yunti {

// Calls f(line) for each line of a text, without its line end.
template <class F>
YUNTI_INLINE void lines(std::string_view text, F&& f) {
  const uint8_t* p = detail::octets(text.data());
  const uint64_t n = text.size();
  uint64_t start = 0;
  detail::each_match_and_end(p, n, detail::IsLineEnd{}, [&](uint64_t at) __attribute__((always_inline)) {
    if (YUNTI_UNLIKELY(at < start || start == n)) return;  // the LF of a CR LF; nothing after the last line end
    f(detail::view(p + start, at - start));
    start = at + 1;
    if (start < n && YUNTI_UNLIKELY(p[at] == '\r') && p[start] == '\n') ++start;
  });
}

// Calls f(key, value) for each line: the text before and after the first separator.
template <class F>
YUNTI_INLINE void key_values(std::string_view text, char separator, F&& f) {
  const uint8_t* p = detail::octets(text.data());
  const uint64_t n = text.size();
  constexpr uint64_t kNone = ~uint64_t{0};
  uint64_t start = 0, cut = kNone;
  detail::each_match_and_end(p, n, detail::IsLineEndOr{static_cast<uint8_t>(separator)},
      [&](uint64_t at) __attribute__((always_inline)) {
    if (at < n && p[at] == static_cast<uint8_t>(separator)) {
      if (cut == kNone) cut = at;
      return;
    }
    if (YUNTI_UNLIKELY(at < start || start == n)) return;
    const bool has = cut != kNone;
    f(detail::view(p + start, (has ? cut : at) - start), has ? detail::view(p + cut + 1, at - cut - 1)
        : std::string_view());
    cut = kNone;
    start = at + 1;
    if (start < n && YUNTI_UNLIKELY(p[at] == '\r') && p[start] == '\n') ++start;
  });
}

}  // namespace yunti
