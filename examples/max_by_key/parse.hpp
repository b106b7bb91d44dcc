// Mapper of maximum by key: parses lines `key TAB number`.
//
// A line without a whole number after its first tab ends the job with the line's position. -D max_by_key.bad=skip
// counts such lines instead.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace max_by_key {

struct Parse : yunti::Mapper<yunti::Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;

  explicit Parse(yunti::Context& context) : bad_lines_(context.counter("MaxByKey", "BAD_LINES")) {
    const std::string_view bad = context.config("max_by_key.bad", "fail");
    if (bad != "fail" && bad != "skip") context.fail("max_by_key.bad must be fail or skip, not " + std::string(bad));
    skip_ = bad == "skip";
  }

  template <class Out>
  void map_span(const yunti::Span& span, Out& out) {
    yunti::key_values(span.text, '\t', [&](std::string_view key, std::string_view value) {
      if (const auto number = yunti::parse_i64(value)) {
        out.emit(key, *number);
      } else {
        bad_line(span, key);
      }
    });
  }

 private:
  __attribute__((noinline)) void bad_line(const yunti::Span& span, std::string_view line) {
    if (!skip_) {
      const uint64_t at = span.position + static_cast<uint64_t>(line.data() - span.text.data());
      yunti::fail("the line at byte " + std::to_string(at) + " of file number " + std::to_string(span.file_index) +
                  " of the input has no whole number after its first tab; correct it, or count "
                  "such lines with -D max_by_key.bad=skip");
    }
    ++bad_lines_;
  }

  yunti::Counter bad_lines_;
  bool skip_;
};

}  // namespace max_by_key
