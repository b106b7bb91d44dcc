// Folder of maximum by key, as an example of a custom folder. (yunti::Max<int64_t> is the same, built in.)
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <yunti/yunti.hpp>

namespace max_by_key {

struct MaxState {
  int64_t max;
};

struct Max : yunti::Folder<MaxState, int64_t> {
  static constexpr bool exact = true;  // partial maxima may be merged in any order

  void init(MaxState& state) { state.max = INT64_MIN; }
  void fold(MaxState& state, int64_t value) { state.max = std::max(state.max, value); }
  void merge(MaxState& state, const MaxState& other) { state.max = std::max(state.max, other.max); }
  void finish(std::string_view key, const MaxState& state, Out& out) { out.emit(key, state.max); }
};

}  // namespace max_by_key
