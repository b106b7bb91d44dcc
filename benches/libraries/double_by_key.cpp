// Lines of `key TAB number` as doubles by key. It is there to feed an inexact folder: no built-in mapper and no example emits doubles.
// As MaxByKey.Parse of the examples but for the type, so that the difference between the two jobs is that of the folders.
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
      out.emit(key, static_cast<double>(*number));  // of 19 digits: sums are rounded
    });
  }
};

}  // namespace

YUNTI_LIBRARY("DoubleByKey", "1.0", yunti::mapper<Parse>("DoubleByKey.Parse"))
