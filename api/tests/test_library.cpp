// Classes of every kind and shape, for host_test.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

namespace {

using yunti::Bytes;
using std::string_view;

// ---- mappers

struct Words : yunti::Mapper<Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;
  static constexpr bool value_is_one = true;
  template <class Out>
  void map_span(string_view text, Out& out) {
    yunti::words(text, [&](string_view word) { out.emit(word); });
  }
};

struct Identity : yunti::Mapper<Bytes, Bytes> {
  void map(string_view key, string_view value, Out& out) { out.emit(key, value); }
};

struct Own : yunti::Mapper<Bytes, Bytes> {  // emits bytes outside of the input, which end at the end of their memory
  void map(string_view value, Out& out) {
    const std::string twice = std::string(value) + std::string(value);
    out.emit(twice, std::string(value.rbegin(), value.rend()));
  }
};

struct Length : yunti::Mapper<Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;
  template <class Out>
  void map(string_view line, Out& out) {
    out.emit(line, static_cast<int64_t>(line.size()));
    out.emit(string_view(), -1);
  }
};

struct At : yunti::Mapper<int64_t, Bytes> {
  uint32_t file = 0;
  void begin_batch(const yt_batch& batch) { file = batch.file_index; }
  void map(uint64_t position, string_view line, Out& out) { out.emit(static_cast<int64_t>(position) + file * 1000,
      line); }
};

struct Types : yunti::Mapper<double, int32_t> {
  void map(string_view value, Out& out) { out.emit(-0.5, static_cast<int32_t>(value.size())); }
};

struct KeysOnly : yunti::Mapper<Bytes, yunti::None> {
  void map(string_view value, Out& out) { out.emit(value); }
};

struct NoSlice : yunti::Mapper<Bytes, int64_t> {
  static constexpr bool keys_are_slices = true;
  template <class Out>
  void map(string_view value, Out& out) {
    const std::string own(value);
    out.emit(own, 1);
  }
};

struct NotOne : yunti::Mapper<Bytes, int64_t> {
  static constexpr bool keys_are_slices = true, value_is_one = true;
  template <class Out>
  void map(string_view value, Out& out) { out.emit(value, 2); }
};

struct Sized : yunti::Mapper<Bytes, Bytes> {  // emits a record with the sizes of the settings
  explicit Sized(yunti::Context& context)
      : key(static_cast<uint64_t>(yunti::parse_i64(context.config("key", "0")).value())),
        value(static_cast<uint64_t>(yunti::parse_i64(context.config("value", "0")).value())) {}
  void map(string_view, Out& out) {
    if (key + value > yunti::kRecordBytesMax) {
      out.emit(string_view("k", key), string_view("v", value));  // never read
      return;
    }
    const std::string k(key, 'k'), v(value, 'v');
    out.emit(k, v);
    out.emit("after", "it");
  }
  uint64_t key, value;
};

struct Odd {
  int x;
};

struct Throws : yunti::Mapper<Bytes, int64_t> {
  explicit Throws(yunti::Context& context) : what(context.config("throw", "")) {
    if (what == "create") context.fail("not made");
  }
  void map(string_view value, Out& out) {
    if (what == "error") yunti::fail("this is why");
    if (what == "std") throw std::out_of_range("out of range");
    if (what == "int") throw 42;
    if (what == "odd") throw Odd{1};
    if (what == "memory") throw std::bad_alloc();
    out.emit(value, 1);
  }
  string_view what;
};

struct Counts : yunti::Mapper<Bytes, int64_t> {  // emits at the end of the task
  explicit Counts(yunti::Context& context) : counter(context.counter("Test", "RECORDS")),
  bytes(context.counter("Test", "BYTES")), own(context) {}
  void map(string_view value, Out&) {
    ++counter;
    bytes += value.size();
    own.status("at " + std::to_string(counter.value()) + " of task " + std::to_string(own.task()));
  }
  void flush(Out& out) { out.emit("records", static_cast<int64_t>(counter.value())); }
  yunti::Counter counter, bytes;
  yunti::Context own;
};

struct Several : yunti::Mapper<Bytes, Bytes> {  // emits the name of the function that was called
  void map_span(const yunti::Span& span, Out& out) { out.emit("span", std::to_string(span.position)); }
  void map(string_view, string_view, Out& out) { out.emit("key", ""); }
  void map(uint64_t position, string_view, Out& out) { out.emit("position", std::to_string(position)); }
};

// ---- reducers

struct Concat : yunti::Reducer<Bytes, Bytes> {
  void reduce(string_view key, yunti::Values<Bytes>& values, Out& out) {
    std::string all;
    for (string_view v : values) all += std::string(v) + ",";
    out.emit(key, all);
  }
};

struct SumAll : yunti::Reducer<Bytes, int64_t> {
  static constexpr bool pure = true;
  using Fold = yunti::Sum<int64_t>;
  void reduce(string_view key, yunti::Values<int64_t>& values, Out& out) {
    int64_t sum = 0;
    for (int64_t v : values) sum += v;
    out.emit(key, sum);
  }
};

struct SumStream : yunti::Reducer<Bytes, int64_t> {
  void begin(string_view) { sum = 0, ++groups; }
  void add(int64_t v) { sum += v; }
  void end(string_view key, Out& out) { out.emit(key, sum); }
  void flush(Out& out) { out.emit("groups", groups); }
  int64_t sum = 0, groups = 0;
};

struct Widen : yunti::Reducer<int64_t, double, int32_t> {  // numbers as keys, values of four bytes
  void reduce(int64_t key, yunti::Values<int32_t>& values, Out& out) {
    double sum = 0;
    for (int32_t v : values) sum += v;
    out.emit(key + 1, sum);
  }
};

// ---- folders

struct MeanState {
  double sum;
  int64_t n;
};
struct Mean : yunti::Folder<MeanState, double> {
  static constexpr bool exact = false;
  void init(MeanState& s) { s = {0, 0}; }
  void fold(MeanState& s, double v) { s.sum += v, ++s.n; }
  void merge(MeanState& s, const MeanState& other) { s.sum += other.sum, s.n += other.n; }
  void finish(string_view key, const MeanState& s, Out& out) {
    if (s.n == 0) yunti::fail("a mean of nothing");
    out.emit(key, s.sum / static_cast<double>(s.n));
  }
};

struct Histogram {
  uint32_t count[256];
};
struct Letters : yunti::Folder<Histogram, Bytes> {  // a state too large to be copied
  static constexpr bool exact = true;
  void init(Histogram& h) { h = {}; }
  void fold(Histogram& h, string_view v) {
    for (char c : v) ++h.count[static_cast<unsigned char>(c)];
  }
  void merge(Histogram& h, const Histogram& other) {
    for (int i = 0; i < 256; ++i) h.count[i] += other.count[i];
  }
  void finish(string_view key, const Histogram& h, Out& out) {
    std::string s;
    for (int i = 0; i < 256; ++i)
      if (h.count[i]) s += static_cast<char>(i) + std::to_string(h.count[i]);
    out.emit(key, s);
  }
};

// ---- partitioners

struct ByLength : yunti::Partitioner<> {
  uint32_t partition(string_view key, string_view value, uint32_t parts) { return static_cast<uint32_t>(key.size() +
      value.size()) % parts; }
};
struct ByNumber : yunti::Partitioner<int64_t> {
  uint32_t partition(int64_t key, uint32_t) { return static_cast<uint32_t>(key); }
};

// ---- key orders

struct ByParts : yunti::KeyOrder<> {  // `text;i32;double`, each descending if it begins with '!'; one group per text
  static constexpr bool groups = true;
  void arrange(string_view key, yunti::OrderedKey& form) {
    const size_t first = key.find(';'), second = key.find(';', first + 1);
    const auto part = [](string_view text) {
      const bool turned = !text.empty() && text.front() == '!';
      return std::pair{turned ? text.substr(1) : text, turned ? yunti::descending : yunti::ascending};
    };
    const auto [text, text_direction] = part(key.substr(0, first));
    const auto [integer, integer_direction] = part(key.substr(first + 1, second - first - 1));
    const auto [real, real_direction] = part(key.substr(second + 1));
    const auto number = static_cast<int32_t>(std::stol(std::string(integer)));
    const double wide = std::stod(std::string(real));
    form.text(text, text_direction).group().number(number, integer_direction).number(wide, real_direction);
    yunti::OrderedKeyReader back(form.bytes());
    const bool same = back.text(text_direction) == text && back.position() == form.group_bytes() &&
                      back.number<int32_t>(integer_direction) == number && back.number<double>(real_direction) == wide;
    if (!same || back.position() != form.bytes().size()) yunti::fail("the parts differ after reading");
    try {
      back.number<uint64_t>();
      yunti::fail("there is one part too many");
    } catch (const yunti::Error& e) {
      if (string_view(e.what()).find("lacks a part") == string_view::npos) throw;
    }
  }
};
struct ByDecimal : yunti::KeyOrder<> {
  void arrange(string_view, string_view value, yunti::OrderedKey& form) { form.decimal(value, yunti::descending); }
};
struct Undeclared : yunti::KeyOrder<int64_t> {
  void arrange(int64_t key, yunti::OrderedKey& form) { form.number(key).group(); }
};
struct Keyed : yunti::Reducer<Bytes, Bytes> {  // each value after its key
  void begin(string_view) { line.clear(); }
  void add(string_view key, string_view value) { line += std::string(key) + '=' + std::string(value) + ' '; }
  void end(string_view key, Out& out) { out.emit(key, line); }
  std::string line;
};
struct KeyedWhole : yunti::Reducer<Bytes, Bytes> {
  void reduce(string_view key, yunti::Values<Bytes>& values, Out& out) {
    std::string line;
    for (auto value = values.begin(); value != values.end(); ++value) line += std::string(value.key())
      + '=' + std::string(*value) + ' ';
    out.emit(key, line);
  }
};

// ---- readers and writers

struct Lengths : yunti::Reader<uint64_t, Bytes> {  // a length byte and that many bytes
  size_t read(const yunti::Chunk& chunk, Out& out) {
    size_t at = 0;
    while (at < chunk.owned()) {
      const size_t n = 1 + static_cast<unsigned char>(chunk.text[at]);
      if (n > chunk.text.size() - at) break;
      out.emit(chunk.position + at, chunk.text.substr(at + 1, n - 1));
      at += n;
    }
    return at;
  }
};

// sentences up to a full stop; find() needs the byte before the cut
struct Sentences : yunti::Reader<Bytes, yunti::None> {
  static constexpr uint32_t look_back = 1;
  size_t find(const yunti::Chunk& chunk) {
    if (chunk.cut == 0) return 0;
    const size_t stop = chunk.text.find('.', chunk.cut - 1);
    if (stop != string_view::npos) return stop + 1;
    return chunk.text.size() > chunk.limit ? static_cast<size_t>(chunk.limit) : yunti::kMore;
  }
  size_t read(const yunti::Chunk& chunk, Out& out) {
    if (chunk.text.find('!') != string_view::npos) throw std::runtime_error("no need to shout");
    size_t at = 0;
    while (at < chunk.owned()) {
      const size_t stop = chunk.text.find('.', at);
      if (stop == string_view::npos) {
        if (!chunk.last) break;
        out.emit(chunk.text.substr(at));
        return chunk.text.size();
      }
      out.emit(chunk.text.substr(at, stop - at));
      at = stop + 1;
    }
    return at;
  }
};

struct Table : yunti::Writer<Bytes, int64_t> {
  static constexpr const char* extension = ".table";
  void begin(yunti::Sink& out) { out.put("head").put('\n'); }
  void write(string_view key, int64_t value, yunti::Sink& out) {
    if (key == "bad") yunti::fail("a bad key");
    out.put(key).put('=').number(value).put("\n");
  }
  void end(yunti::Sink& out) { out.put(string_view()).raw(uint32_t{7}); }
};

struct Keys : yunti::Writer<yunti::Any, yunti::None> {
  static constexpr bool whole_part = true;
  void write(string_view key, yunti::Sink& out) { out.number(++n).put(key); }
  int n = 0;
};

}  // namespace

YUNTI_LIBRARY("Test", "1.2",
              yunti::mapper<Words>("Test.Words"), yunti::mapper<Identity>("Test.Identity"),
              yunti::mapper<Own>("Test.Own"), yunti::mapper<Length>("Test.Length"), yunti::mapper<At>("Test.At"),
              yunti::mapper<Types>("Test.Types"), yunti::mapper<KeysOnly>("Test.KeysOnly"),
              yunti::mapper<NoSlice>("Test.NoSlice"), yunti::mapper<NotOne>("Test.NotOne"),
              yunti::mapper<Sized>("Test.Sized"), yunti::mapper<Throws>("Test.Throws"),
              yunti::mapper<Counts>("Test.Counts"), yunti::mapper<Several>("Test.Several"),
              yunti::reducer<Concat>("Test.Concat"), yunti::reducer<SumAll>("Test.SumAll"),
              yunti::combiner<SumAll>("Test.SumCombiner"), yunti::reducer<SumStream>("Test.SumStream"),
              yunti::reducer<Widen>("Test.Widen"), yunti::reducer<yunti::Sum<int64_t>>("Test.SumFold"),
              yunti::reducer<yunti::Count>("Test.CountFold"), yunti::reducer<Mean>("Test.MeanReducer"),
              yunti::folder<Mean>("Test.Mean"), yunti::folder<Letters>("Test.Letters"),
              yunti::folder<yunti::Count>("Test.Count"), yunti::folder<yunti::Sum<double>>("Test.SumDouble"),
              yunti::partitioner<ByLength>("Test.ByLength"), yunti::partitioner<ByNumber>("Test.ByNumber"),
              yunti::key_order<ByParts>("Test.ByParts"), yunti::key_order<ByDecimal>("Test.ByDecimal"),
              yunti::key_order<Undeclared>("Test.Undeclared"),
              yunti::reducer<Keyed>("Test.Keyed"), yunti::reducer<KeyedWhole>("Test.KeyedWhole"),
              yunti::reader<Lengths>("Test.Lengths"), yunti::reader<Sentences>("Test.Sentences"),
              yunti::writer<Table>("Test.Table"), yunti::writer<Keys>("Test.Keys"))
