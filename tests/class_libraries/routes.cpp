// Named outputs: mappers and reducers that write records to several files, correctly and incorrectly.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

namespace {

// Lines without a tab go to `rejected`, with their length; the others are emitted.
struct Parse : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Parse(yunti::Context& context) : rejected(context, "rejected") {}
  void map(std::string_view line, Out& out) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) {
      rejected.emit(line, static_cast<int64_t>(line.size()));
    } else {
      out.emit(line.substr(0, tab), line.substr(tab + 1));
    }
  }
  yunti::NamedOutput<yunti::Bytes, int64_t> rejected;
};

// Counts the values of each key. Keys with one value go to `single` without the count.
struct Count : yunti::Reducer<yunti::Bytes, int64_t, yunti::Bytes> {
  static constexpr bool pure = true;
  explicit Count(yunti::Context& context) : single(context, "single") {}
  void begin(std::string_view) { n = 0; }
  void add(std::string_view) { ++n; }
  void end(std::string_view key, Out& out) {
    if (n == 1) {
      single.emit(key);
    } else {
      out.emit(key, n);
    }
  }
  int64_t n = 0;
  yunti::NamedOutput<yunti::Bytes, yunti::None> single;
};

// Emits a number of the wrong length into an output of numbers, through the C ABI.
struct Wrong : yunti::Mapper<yunti::Bytes, yunti::None> {
  explicit Wrong(yunti::Context& context) {
    const yt_context* raw = context.raw();
    out = raw->output(raw->engine, {reinterpret_cast<const uint8_t*>("rejected"), 8}, YT_I64, YT_NONE);
  }
  void map(std::string_view line, Out&) {
    yunti::Out<yunti::Bytes, yunti::None> cursor(out, yunti::detail::Padded{});
    cursor.emit(line);
    cursor.commit();
  }
  yt_out* out = nullptr;
};

}  // namespace

YUNTI_LIBRARY("Routes", "1.0", yunti::mapper<Parse>("Routes.Parse"), yunti::reducer<Count>("Routes.Count"),
              yunti::mapper<Wrong>("Routes.Wrong"))
