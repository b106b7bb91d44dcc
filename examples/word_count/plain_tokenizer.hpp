// Slow mapper of word count, which cuts words by a loop over bytes. Benchmarks compare Tokenizer with it; do not copy
// it.
//
// It makes the same promises as Tokenizer, so no word is copied. But it reads one byte at a time and mispredicts a
// branch at the end of nearly every word, which takes five to ten times as long.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace word_count {

struct PlainTokenizer : yunti::Mapper<yunti::Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;
  static constexpr bool value_is_one = true;

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

  template <class Out>
  void map_span(const yunti::Span& span, Out& out) {
    const char *p = span.text.data(), *const end = p + span.text.size(), *word = p;
    for (; p != end; ++p) {
      if (!is_space(*p)) continue;
      if (p != word) out.emit(std::string_view(word, p - word));
      word = p + 1;
    }
    if (p != word) out.emit(std::string_view(word, p - word));
  }
};

}  // namespace word_count
