// Inverted index as a class library: the files in which each word occurs.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <set>
#include <string>

namespace {

// Mapper that emits each word with the name of its file.
struct Words : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Words(yunti::Context& context) : context(context) {}

  void map_span(const yunti::Span& span, Out& out) {
    const std::string_view file = context.input(span.file_index);
    yunti::words(span.text, [&](std::string_view word) { out.emit(word, file); });
  }

  yunti::Context context;
};

// Reducer to the distinct names of each word. As a combiner it leaves one record for each, so tasks exchange little
// data.
struct Files : yunti::Reducer<yunti::Bytes, yunti::Bytes> {
  static constexpr bool pure = true;

  void begin(std::string_view) { names.clear(); }
  void add(std::string_view name) {
    if (names.find(name) == names.end()) names.emplace(name);
  }
  void end(std::string_view word, Out& out) {
    for (const std::string& name : names) out.emit(word, name);
  }

  std::set<std::string, std::less<>> names;
};

// Reducer to one line per word, with all names.
struct Line : Files {
  void end(std::string_view word, Out& out) {
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ", ") + name;
    out.emit(word, line);
  }
};

}  // namespace

YUNTI_LIBRARY("InvertedIndex", "1.0",
              yunti::mapper<Words>("InvertedIndex.Words"),
              yunti::combiner<Files>("InvertedIndex.Files"),
              yunti::reducer<Line>("InvertedIndex.Line"))
