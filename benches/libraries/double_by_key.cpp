// Mapper of lines `key TAB number` to doubles by key. It feeds an inexact folder: no built-in mapper or example emits
// doubles. It differs from MaxByKey.Parse of the examples only in the type, so the two jobs differ only in the folder.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

namespace {

struct Parse : yunti::Mapper<yunti::Bytes, double> {
  static constexpr bool keys_are_slices = true;

  template <class Out>
  void map_span(const yunti::Span& span, Out& out) {
    yunti::key_values(span.text, '\t', [&](std::string_view key, std::string_view value) {
      const auto number = yunti::parse_i64(value);
      if (!number) yunti::fail("a line without a whole number after its first tab");
      out.emit(key, static_cast<double>(*number));  // numbers have 19 digits, so sums are rounded
    });
  }
};

}  // namespace

YUNTI_LIBRARY("DoubleByKey", "1.0", yunti::mapper<Parse>("DoubleByKey.Parse"))
