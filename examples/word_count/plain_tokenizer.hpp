// What not to do: the mapper of word count as one writes it first. It is here to be measured against Tokenizer.
//
// It loops over the bytes of a line (which mispredicts a branch at nearly every word) and promises nothing (so each word is copied):
// the mapper then takes four to five times as long as Tokenizer does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace word_count {

struct PlainTokenizer : yunti::Mapper<yunti::Bytes, int64_t> {
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

  void map(std::string_view line, Out& out) {
    size_t i = 0;
    while (i < line.size()) {
      while (i < line.size() && is_space(line[i])) ++i;
      const size_t start = i;
      while (i < line.size() && !is_space(line[i])) ++i;
      if (i > start) out.emit(line.substr(start, i - start), 1);
    }
  }
};

}  // namespace word_count
