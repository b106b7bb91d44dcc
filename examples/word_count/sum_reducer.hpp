// Reducer of word count: the sum of a word's values. It is also the combiner.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace word_count {

struct SumReducer : yunti::Reducer<yunti::Bytes, int64_t> {
  static constexpr bool pure = true;
  // The class computes this known fold, so as a combiner the engine may fold instead of calling it.
  using Fold = yunti::Sum<int64_t>;

  // A word may have billions of values, so this class reads a group value by value, in constant memory. (reduce() with
  // all values at once is shorter.)
  void begin(std::string_view) { sum_ = 0; }
  void add(int64_t value) { sum_ += value; }
  void end(std::string_view word, Out& out) { out.emit(word, sum_); }

 private:
  int64_t sum_ = 0;
};

}  // namespace word_count
