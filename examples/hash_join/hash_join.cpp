// Hash join as a class library: the small side of the join is in memory.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;

// Returns the table of lines `code TAB name`, read once for all tasks of the process. The text is valid as long as any
// of their contexts.
std::shared_ptr<const Names> read(const yunti::Context& context, std::string_view file) {
  static std::mutex mutex;
  static std::weak_ptr<const Names> shared;
  const std::lock_guard<std::mutex> lock(mutex);
  if (auto there = shared.lock()) return there;
  const auto text = context.side_file(file);
  if (!text) context.fail("there is no side file " + std::string(file) + ": add --side-file " + std::string(file));
  auto names = std::make_shared<Names>();
  yunti::lines(*text, [&](std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos)
      context.fail("a line of " + std::string(file) + " has no tab: " + std::string(line));
    names->emplace(line.substr(0, tab), line.substr(tab + 1));
  });
  shared = names;
  return names;
}

// Mapper that replaces the code, the first column of the input, by its name.
struct Lookup : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  explicit Lookup(yunti::Context& context)
      : names(read(context, context.config("hash_join.names", "countries.tsv"))),
      unknown(context.counter("HashJoin", "UNKNOWN_CODES")) {}

  void map(std::string_view line, Out& out) {
    const size_t tab = line.find('\t');
    const auto found = names->find(line.substr(0, tab));
    if (found == names->end()) {
      ++unknown;
      return;
    }
    out.emit(found->second, tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1));
  }

  std::shared_ptr<const Names> names;
  yunti::Counter unknown;
};

}  // namespace

YUNTI_LIBRARY("HashJoin", "1.0", yunti::mapper<Lookup>("HashJoin.Lookup"))
