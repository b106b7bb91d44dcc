// Class library in C++ whose classes throw, and a correct folder with three numbers per key.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <stdexcept>
#include <string>

#include <yunti/yunti.hpp>

struct Words : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out& out) {
    out.emit(line.substr(0, line.find(' ')), static_cast<int64_t>(line.size()));
  }
};

struct Exception : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out&) {
    if (line.find("dog") != std::string_view::npos) throw std::runtime_error("I do not like dogs");
  }
};

struct Int : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view, Out&) { throw 42; }
};

struct Memory : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view, Out&) { throw std::bad_alloc(); }
};

struct Huge : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out& out) { out.emit(std::string_view(line.data(), 3ull << 30), 1); }
};

struct State {
  int64_t count, sum, longest;
};

struct Statistics : yunti::Folder<State, int64_t, yunti::Bytes> {
  static constexpr bool exact = true;
  void init(State& s) { s = {0, 0, LLONG_MIN}; }
  void fold(State& s, int64_t v) { s = {s.count + 1, s.sum + v, std::max(s.longest, v)}; }
  void merge(State& s, const State& o) { s = {s.count + o.count, s.sum + o.sum, std::max(s.longest, o.longest)}; }
  void finish(std::string_view key, const State& s, Out& out) {
    out.emit(key, std::to_string(s.count) + " " + std::to_string(s.sum) + " " + std::to_string(s.longest));
  }
};

struct Breaks : yunti::Folder<State, int64_t, yunti::Bytes> {
  static constexpr bool exact = true;
  void init(State& s) { s = {0, 0, 0}; }
  void fold(State&, int64_t) {}
  void merge(State&, const State&) {}
  void finish(std::string_view, const State&, Out&) { throw std::logic_error("it broke at the end"); }
};

YUNTI_LIBRARY("Thrower", "1.0", yunti::mapper<Words>("Thrower.Words"), yunti::mapper<Exception>("Thrower.Exception"),
              yunti::mapper<Int>("Thrower.Int"), yunti::mapper<Memory>("Thrower.Memory"),
              yunti::mapper<Huge>("Thrower.Huge"),
              yunti::folder<Statistics>("Thrower.Statistics"),
              yunti::folder<Breaks>("Thrower.Breaks"))
