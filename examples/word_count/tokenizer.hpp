// Mapper of word count: emits each word of the text with a 1.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace word_count {

struct Tokenizer : yunti::Mapper<yunti::Bytes, int64_t> {
  // A word is a slice of the text and its value is 1, so the engine copies neither.
  static constexpr bool keys_are_slices = true;
  static constexpr bool value_is_one = true;

  template <class Out>
  void map_span(const yunti::Span& span, Out& out) {
    yunti::words(span.text, out);
  }
};

}  // namespace word_count
