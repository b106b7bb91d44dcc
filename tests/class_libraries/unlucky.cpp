// Mapper and reducer that write to a named output. Each kills its process once while it writes, as by kill -9.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

namespace {

// Kills this process if it is the first to create the file.
void die_once(const std::string& file) {
  if (!file.empty() && open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0) kill(getpid(), SIGKILL);
}

// Writes lines to `lines` and emits their lengths; an empty line kills the process.
struct Map : yunti::Mapper<yunti::Bytes, int64_t> {
  explicit Map(yunti::Context& context) : file(context.config("unlucky.map", "")), lines(context, "lines") {}
  void map(std::string_view line, Out& out) {
    if (line.empty()) die_once(file);
    lines.emit(line);
    out.emit(line.substr(0, line.find(' ')), static_cast<int64_t>(line.size()));
  }
  std::string file;
  yunti::NamedOutput<yunti::Bytes, yunti::None> lines;
};

// Writes keys to `keys` and emits the sums; the key "z" kills the process.
struct Sum : yunti::Reducer<yunti::Bytes, int64_t, int64_t> {
  explicit Sum(yunti::Context& context) : file(context.config("unlucky.reduce", "")), keys(context, "keys") {}
  void begin(std::string_view) { sum = 0; }
  void add(int64_t value) { sum += value; }
  void end(std::string_view key, Out& out) {
    if (key == "z") die_once(file);
    keys.emit(key);
    out.emit(key, sum);
  }
  std::string file;
  int64_t sum = 0;
  yunti::NamedOutput<yunti::Bytes, yunti::None> keys;
};

}  // namespace

YUNTI_LIBRARY("Unlucky", "1.0", yunti::mapper<Map>("Unlucky.Map"), yunti::reducer<Sum>("Unlucky.Sum"))
