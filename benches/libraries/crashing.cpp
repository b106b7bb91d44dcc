// Word count that crashes at each line with the word KILLER, or with the setting `crashing.once` only while the file of
// that name does not exist. The bench measures what a crash costs.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <yunti/yunti.hpp>

namespace {

struct Words : yunti::Mapper<yunti::Bytes, int64_t> {
  explicit Words(yunti::Context& context) : once_(context.config("crashing.once", "")) {}

  void map(std::string_view line, Out& out) {
    if (line.find("KILLER") != line.npos && first()) __builtin_trap();
    size_t at = 0;
    while (at < line.size()) {
      const size_t end = std::min(line.find(' ', at), line.size());
      if (end > at) out.emit(line.substr(at, end - at), 1);
      at = end + 1;
    }
  }

 private:
  bool first() const {
    if (once_.empty()) return true;
    const int file = open(once_.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    return file >= 0;
  }

  std::string once_;
};

}  // namespace

YUNTI_LIBRARY("Crashing", "1.0", yunti::mapper<Words>("Crashing.Words"))
