// The reducer of word count: the sum of a word's values. It is the combiner, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace word_count {

struct SumReducer : yunti::Reducer<yunti::Bytes, int64_t> {
  static constexpr bool pure = true;
  // It does what this fold does: as a combiner the engine may fold instead of calling it.
  using Fold = yunti::Sum<int64_t>;

  // A word may have billions of values: a group as it comes, in constant memory. (With all values at once, reduce() is shorter.)
  void begin(std::string_view) { sum_ = 0; }
  void add(int64_t value) { sum_ += value; }
  void end(std::string_view word, Out& out) { out.emit(word, sum_); }

 private:
  int64_t sum_ = 0;
};

}  // namespace word_count
