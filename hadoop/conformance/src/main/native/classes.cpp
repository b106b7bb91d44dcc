// C++ class library of the suite: twins of the Java classes in cases/tasks/Libraries.java.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>
#include <yunti/yunti.hpp>

namespace {

using yunti::Bytes;

// Lines of `number TAB text`, with the number as the key in the type that sorts it.
template <class Number>
struct Numbers : yunti::Mapper<Number, Bytes> {
  void map(std::string_view line, yunti::Out<Number, Bytes>& out) {
    const size_t tab = line.find('\t');
    const std::string text(line.substr(0, tab));
    Number number;
    if constexpr (std::is_same_v<Number, float>) {
      number = std::strtof(text.c_str(), nullptr);
    } else if constexpr (std::is_same_v<Number, double>) {
      number = std::strtod(text.c_str(), nullptr);
    } else {
      number = static_cast<Number>(*yunti::parse_i64(text));
    }
    out.emit(number, line.substr(tab + 1));
  }
};

// Lines of `key TAB number`.
struct KeyNumber : yunti::Mapper<Bytes, int64_t> {
  void map(std::string_view line, Out& out) {
    const size_t tab = line.find('\t');
    out.emit(line.substr(0, tab), *yunti::parse_i64(line.substr(tab + 1)));
  }
};

// Writes none, one or several records per line, with empty keys and empty values among them.
struct Several : yunti::Mapper<Bytes, Bytes> {
  void map(std::string_view line, Out& out) {
    for (size_t n = line.size() % 4; n > 0; --n) out.emit(line.substr(0, n - 1), line.substr(n));
  }
};

// Drops and counts lines with the word of a setting, and reports the number of the other lines at its end.
struct Filter : yunti::Mapper<Bytes, int64_t> {
  explicit Filter(yunti::Context& context)
      : word_(context.config("conformance.word", "?")), dropped_(context.counter("conformance", "dropped")) {}

  void map(std::string_view line, Out& out) {
    if (line.find(word_) != std::string_view::npos) {
      ++dropped_;
      return;
    }
    ++passed_;
    out.emit(line, static_cast<int64_t>(line.size()));
  }

  void flush(Out& out) { out.emit("", passed_); }

 private:
  std::string word_;
  yunti::Counter dropped_;
  int64_t passed_ = 0;
};

struct Failing : yunti::Mapper<Bytes, int64_t> {
  void map(std::string_view line, Out& out) {
    if (line == "line 77") yunti::fail("the mapper has had enough");
    out.emit(line, 1);
  }
};

struct ByLength : yunti::Partitioner<> {
  uint32_t partition(std::string_view key, uint32_t parts) { return static_cast<uint32_t>(key.size()) % parts; }
};

struct Sum : yunti::Reducer<Bytes, int64_t> {
  void reduce(std::string_view key, yunti::Values<int64_t>& values, Out& out) {
    int64_t sum = 0;
    for (int64_t value : values) sum += value;
    out.emit(key, sum);
  }
};

// Writes another type than it reads, and not a record for each group.
struct Spread : yunti::Reducer<Bytes, Bytes, int64_t> {
  void begin(std::string_view) { least_ = INT64_MAX, most_ = INT64_MIN, values_ = 0; }
  void add(int64_t value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    ++values_;
  }
  void end(std::string_view key, Out& out) {
    if (values_ > 1) out.emit(key, std::to_string(least_) + ".." + std::to_string(most_) + " of " + std::to_string(values_));
  }

 private:
  int64_t least_ = 0, most_ = 0, values_ = 0;
};

// One group per key, its values in descending order.
struct ByBoth : yunti::KeyOrder<> {
  static constexpr bool groups = true;
  void arrange(std::string_view key, std::string_view value, yunti::OrderedKey& form) {
    form.text(key).group().number(yunti::detail::load<int64_t>(value.data()), yunti::descending);
  }
};

struct Listed : yunti::Reducer<Bytes, Bytes, int64_t> {
  void begin(std::string_view) { all_.clear(); }
  void add(int64_t value) { all_ += std::to_string(value) + ' '; }
  void end(std::string_view key, Out& out) { out.emit(key, all_); }

 private:
  std::string all_;
};

struct FailingReducer : yunti::Reducer<Bytes, int64_t> {
  void reduce(std::string_view key, yunti::Values<int64_t>&, Out&) {
    if (key == "key7") yunti::fail("the reducer has had enough");
  }
};

struct Extremes {
  int64_t least, most;
};

// Folder with a state type of its own, which it creates, merges and prints.
struct Range : yunti::Folder<Extremes, int64_t> {
  static constexpr bool exact = true;
  void init(Extremes& state) { state = {INT64_MAX, INT64_MIN}; }
  void fold(Extremes& state, int64_t value) { merge(state, {value, value}); }
  void merge(Extremes& state, const Extremes& other) {
    state.least = std::min(state.least, other.least);
    state.most = std::max(state.most, other.most);
  }
  void finish(std::string_view key, const Extremes& state, Out& out) { out.emit(key, state.most - state.least); }
};

}  // namespace

YUNTI_LIBRARY("Conformance", "1.0",
              yunti::mapper<Numbers<int32_t>>("Conformance.Int"),
              yunti::mapper<Numbers<int64_t>>("Conformance.Long"),
              yunti::mapper<Numbers<float>>("Conformance.Float"),
              yunti::mapper<Numbers<double>>("Conformance.Double"),
              yunti::mapper<KeyNumber>("Conformance.KeyNumber"),
              yunti::mapper<Several>("Conformance.Several"),
              yunti::mapper<Filter>("Conformance.Filter"),
              yunti::mapper<Failing>("Conformance.Failing"),
              yunti::partitioner<ByLength>("Conformance.ByLength"),
              yunti::key_order<ByBoth>("Conformance.ByBoth"),
              yunti::reducer<Listed>("Conformance.Listed"),
              yunti::reducer<Sum>("Conformance.Sum"),
              yunti::combiner<Sum>("Conformance.SumCombiner"),
              yunti::reducer<Spread>("Conformance.Spread"),
              yunti::reducer<FailingReducer>("Conformance.FailingReducer"),
              yunti::folder<Range>("Conformance.Range"))
