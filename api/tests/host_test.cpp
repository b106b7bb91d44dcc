// Test of every kind of class through the ABI at its limits: smallest blocks, guard pages, groups cut anywhere,
// exceptions.
//
//   host_test TEST_LIBRARY.so C_LIBRARY.so
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "mock_host.hpp"

using namespace mock;

static const yt_library* library;

struct Mapped {
  yt_status status;
  Records records;
  int fulls, bigs;
};

static Mapped map(Host& host, const char* name, const Batch& batch, yt_form form = YT_FORM_COPY, size_t block = 1 << 18,
    int stop_after = -1) {
  Object object(find(library, name), host);
  Sink sink(form, block, batch.batch.base);
  sink.stop_after = stop_after;
  const yt_status status = object.cls->map(object.self, &batch.batch, &sink.out);
  if (status == YT_OK && object.cls->flush) CHECK(object.cls->flush(object.self, &sink.out) == YT_OK);
  if (status == YT_OK) sink.take();
  return {status, sink.records, sink.fulls, sink.bigs};
}

static void tables() {
  CHECK(library->size == sizeof(yt_library) && library->n == 36);
  CHECK(std::string(library->name) == "Test" && std::string(library->version) == "1.2");
  const yt_class* words = find(library, "Test.Words");
  CHECK(words->kind == YT_MAPPER && words->flags == (YT_WANTS_SPAN | YT_EMITS_ONE | YT_EMITS_REFS));
  CHECK(words->key_type == YT_BYTES && words->value_type == YT_I64 && words->flush == nullptr);
  CHECK(find(library, "Test.Length")->flags == YT_EMITS_REFS);
  CHECK(find(library, "Test.Types")->key_type == YT_F64 && find(library, "Test.Types")->value_type == YT_I32);
  CHECK(find(library, "Test.KeysOnly")->value_type == YT_NONE);
  const yt_class* sum = find(library, "Test.SumAll");
  CHECK(sum->kind == YT_REDUCER && sum->flags == YT_PURE && sum->in_value_type == YT_I64 &&
      sum->folder->known == YT_FOLD_SUM_I64);
  CHECK(find(library, "Test.SumCombiner")->kind == YT_COMBINER);
  const yt_folder* known = find(library, "Test.Count")->folder;
  CHECK(known->known == YT_FOLD_COUNT && known->exact == 1 && known->state_size == 8 && known->finish == nullptr);
  CHECK(find(library, "Test.SumDouble")->folder->known == YT_FOLD_SUM_F64 &&
      find(library, "Test.SumDouble")->folder->exact == 0);
  CHECK(find(library, "Test.Mean")->folder->known == YT_FOLD_USER && find(library, "Test.Mean")->folder->exact == 0);
}

static void forms(Host& host) {
  const std::string text = "the cat\nsat  on\tthe mat of sixteen_letters__ and_of_many_more_letters_than_that\r\nend";
  Records want;
  for (const char* w : {"the", "cat", "sat", "on", "the", "mat", "of", "sixteen_letters__",
      "and_of_many_more_letters_than_that", "end"}) want.emplace_back(w, number(1));
  for (const bool span : {true, false}) {
    const Batch batch(text, span);
    for (const size_t block : {size_t{8}, size_t{16}, size_t{48}, size_t{100}, size_t{1} << 16})
      for (const yt_form form : {YT_FORM_COPY, YT_FORM_ONE, YT_FORM_REF}) {
        const Mapped got = map(host, "Test.Words", batch, form, block);
        CHECK(got.status == YT_OK && got.records == want);
        CHECK((got.fulls > 0) == (block < 80) || block == 100);
      }
  }
  CHECK(map(host, "Test.Words", Batch(text, true), YT_FORM_ONE, 16, 2).status == YT_STOP);
  CHECK(map(host, "Test.Words", Batch("", true)).records.empty());
  CHECK(map(host, "Test.Words", Batch("", false)).records.empty());

  const Records length = {{"ab", number(2)}, {"", number(-1)}, {"", number(0)}, {"", number(-1)}, {"c", number(1)},
      {"", number(-1)}};
  for (const yt_form form : {YT_FORM_COPY, YT_FORM_REF})
    CHECK(map(host, "Test.Length", Batch("ab\n\nc", false), form, 16).records == length);
  CHECK(map(host, "Test.Length", Batch("ab\n", false), YT_FORM_ONE).status == YT_FAIL &&
      host.error.find("form") != std::string::npos);
}

static void records(Host& host) {
  Records in;
  for (size_t n = 0; n < 70; ++n)
    in.emplace_back(std::string(n, static_cast<char>('a' + n % 26)),
      std::string(70 - n, static_cast<char>('0' + n % 10)));
  for (const size_t block : {size_t{8}, size_t{128}, size_t{1000}}) {
    CHECK(map(host, "Test.Identity", Batch(in), YT_FORM_COPY, block).records == in);
    const Mapped own = map(host, "Test.Own", Batch(in), YT_FORM_COPY, block);
    CHECK(own.records.size() == in.size());
    for (size_t i = 0; i < in.size(); ++i)
      CHECK(own.records[i].first == in[i].second + in[i].second && own.records[i].second == in[i].second);
  }
  CHECK(map(host, "Test.Identity", Batch("text\n", false)).status == YT_FAIL &&
      host.error.find("without keys") != std::string::npos);

  Batch lines("ab\n\ncde", false);
  lines.batch.first_position = 100;
  lines.batch.file_index = 2;
  CHECK((map(host, "Test.At", lines).records == Records{{number(2100), "ab"}, {number(2103), ""},
      {number(2104), "cde"}}));

  const Mapped typed = map(host, "Test.Types", Batch("12345\n", false));
  const double half = -0.5;
  const int32_t five = 5;
  CHECK(typed.records.at(0).first == std::string(reinterpret_cast<const char*>(&half), 8) &&
      typed.records[0].second == std::string(reinterpret_cast<const char*>(&five), 4));
  CHECK((map(host, "Test.KeysOnly", Batch("x\ny\n", false)).records == Records{{"x", ""}, {"y", ""}}));

  Batch span("x\ny\n", true);
  span.batch.first_position = 7;
  CHECK((map(host, "Test.Several", span).records == Records{{"span", "7"}}));
  lines.batch.first_position = 0;
  CHECK((map(host, "Test.Several", lines).records == Records{{"position", "0"}, {"position", "3"}, {"position", "4"}}));
  CHECK((map(host, "Test.Several", Batch(Records{{"k", "v"}})).records == Records{{"key", ""}}));
  CHECK(map(host, "Test.At", span).status == YT_FAIL && host.error.find("span") != std::string::npos);
}

static void big_records() {
  struct Case {
    const char *key, *value;
    int bigs;
  };
  const Batch one("x\n", false);
  for (const Case& c : {Case{"10", "65510", 0}, Case{"10", "65518", 0}, Case{"10", "65519", 1}, Case{"65528", "0", 0},
      Case{"65529", "0", 1}, Case{"100000", "3000000", 1}}) {
    Host host;
    host.settings = {{"key", c.key}, {"value", c.value}};
    const Mapped got = map(host, "Test.Sized", one, YT_FORM_COPY, 4096);
    CHECK(got.status == YT_OK && got.bigs == c.bigs && got.records.size() == 2);
    CHECK(got.records[0].first == std::string(static_cast<size_t>(std::stoll(c.key)), 'k'));
    CHECK(got.records[0].second == std::string(static_cast<size_t>(std::stoll(c.value)), 'v'));
    CHECK(got.records[1] == Record("after", "it"));
  }
  for (const char* value : {"2147483638", "3221225472", "1099511627776"}) {
    Host host;
    host.settings = {{"key", "10"}, {"value", value}};
    CHECK(map(host, "Test.Sized", one).status == YT_FAIL && host.error.find("2147483647") != std::string::npos);
  }
}

static void failures() {
  struct Case {
    const char* setting;
    yt_status status;
    const char* message;
  };
  const Batch one("x\n", false);
  for (const Case& c : {Case{"error", YT_FAIL, "this is why"}, Case{"std", YT_FAIL, "out of range"},
      Case{"int", YT_FAIL, "unknown exception"},
                        Case{"odd", YT_FAIL, "unknown exception"}, Case{"memory", YT_NOMEM, ""}, Case{"", YT_OK, ""}}) {
    Host host;
    host.settings["throw"] = c.setting;
    CHECK(map(host, "Test.Throws", one).status == c.status && host.error == c.message);
  }
  Host host;
  host.settings["throw"] = "create";
  void* self = nullptr;
  CHECK(find(library, "Test.Throws")->create(&host.context, &self) == YT_FAIL && self == nullptr &&
      host.error == "not made");
  host.no_memory = true;
  CHECK(find(library, "Test.Counts")->create(&host.context, &self) == YT_NOMEM);

  CHECK(map(host, "Test.NoSlice", one, YT_FORM_REF).status == YT_FAIL &&
      host.error.find("no slice") != std::string::npos);
  CHECK(map(host, "Test.NoSlice", one, YT_FORM_COPY).status == YT_OK);
  CHECK(map(host, "Test.NotOne", one, YT_FORM_ONE).status == YT_FAIL && map(host, "Test.NotOne", one, YT_FORM_COPY)
      .status == YT_FAIL);
}

static void context() {
  Host host;
  host.context.task = 3;
  CHECK((map(host, "Test.Counts", Batch("ab\nc\n", false)).records == Records{{"records", number(2)}}));
  CHECK(host.counters["Test/RECORDS"] == 2 && host.counters["Test/BYTES"] == 3 && host.status == "at 2 of task 3");
}

// Reduces groups in batches of at most 3 groups and `values` values each, so that groups are cut.
static Records reduce(Host& host, const char* name, const std::vector<Group>& all, bool v8, size_t values) {
  Object object(find(library, name), host);
  Sink sink(YT_FORM_COPY, 64);
  std::vector<std::pair<std::vector<Group>, uint32_t>> batches(1);
  for (const Group& g : all) {
    size_t at = 0;
    do {
      if (batches.back().first.size() == 3 || (at > 0)) batches.emplace_back();
      const size_t n = std::min(values, g.values.size() - at);
      const auto from = g.values.begin() + static_cast<long>(at);
      batches.back().first.push_back({g.key, {from, from + static_cast<long>(n)}});
      if (at > 0) batches.back().second |= YT_GROUP_CONT;
      at += n;
      if (at < g.values.size()) batches.back().second |= YT_GROUP_MORE;
    } while (at < g.values.size());
  }
  for (const auto& [groups, flags] : batches) {
    const Groups batch(groups, v8, flags);
    const yt_status status = object.cls->reduce(object.self, &batch.groups, &sink.out);
    if (status != YT_OK) return {{"status", std::to_string(status)}};
  }
  if (object.cls->flush) CHECK(object.cls->flush(object.self, &sink.out) == YT_OK);
  return sink.take();
}

static void groups(Host& host) {
  std::vector<Group> numbers, texts;
  Records sums, joined, counts;
  for (int g = 0; g < 9; ++g) {
    const std::string key(static_cast<size_t>(g * 3), static_cast<char>('a' + g));
    Group n{key, {}}, t{key, {}};
    std::string all;
    for (int i = 0; i < (g == 4 ? 100 : g + 1); ++i) {
      n.values.push_back(number(i * g));
      t.values.push_back(std::string(static_cast<size_t>(i % 5), static_cast<char>('0' + i % 10)));
      all += t.values.back() + ",";
    }
    const int64_t k = static_cast<int64_t>(n.values.size());
    sums.emplace_back(key, number(g * k * (k - 1) / 2));
    counts.emplace_back(key, number(k));
    joined.emplace_back(key, all);
    numbers.push_back(n);
    texts.push_back(t);
  }
  Records stream = sums;
  stream.emplace_back("groups", number(9));
  for (const size_t values : {1, 2, 7, 99, 100, 1000}) {
    CHECK(reduce(host, "Test.SumAll", numbers, true, values) == sums);
    CHECK(reduce(host, "Test.SumCombiner", numbers, true, values) == sums);
    CHECK(reduce(host, "Test.SumStream", numbers, true, values) == stream);
    CHECK(reduce(host, "Test.SumFold", numbers, true, values) == sums);
    CHECK(reduce(host, "Test.CountFold", numbers, true, values) == counts);
    CHECK(reduce(host, "Test.CountFold", texts, false, values) == counts);
    CHECK(reduce(host, "Test.Concat", texts, false, values) == joined);
  }
  CHECK((reduce(host, "Test.SumAll", texts, false, 5) == Records{{"status", "1"}}) &&
      host.error.find("eight bytes") != std::string::npos);

  const auto i32 = [](int32_t v) { return std::string(reinterpret_cast<const char*>(&v), 4); };
  const double six = 6;
  const std::vector<Group> wide = {{number(41), {i32(1), i32(2), i32(3)}}};
  for (const size_t values : {1, 3})
    CHECK((reduce(host, "Test.Widen", wide, false,
      values) == Records{{number(42), std::string(reinterpret_cast<const char*>(&six), 8)}}));
  CHECK((reduce(host, "Test.Widen", {{"short", {i32(1)}}}, false, 1) == Records{{"status", "1"}}));

  Host small;
  small.settings["yunti.reduce.buffer.bytes"] = "400";
  CHECK((reduce(small, "Test.SumAll", numbers, true, 7) == Records{{"status", "1"}}) &&
      small.error.find("begin, add and end") != std::string::npos);
  CHECK(reduce(small, "Test.SumAll", numbers, true, 100) == sums);     // fits a batch: not buffered
  CHECK(reduce(small, "Test.SumStream", numbers, true, 7) == stream);  // never buffered
  small.settings["yunti.reduce.buffer.bytes"] = "much";
  void* self = nullptr;
  CHECK(find(library, "Test.SumAll")->create(&small.context, &self) == YT_FAIL);
}

// Folds `values` into two states that are `shift` bytes off alignment, merges them and finishes.
static Record fold(Host& host, const char* name, const std::vector<std::string>& values, bool v8, size_t shift) {
  Object object(find(library, name), host);
  const yt_folder& f = *object.cls->folder;
  std::vector<uint8_t> memory(2 * f.state_size + shift + 8);
  void* states[2] = {memory.data() + shift, memory.data() + shift + f.state_size};
  CHECK(f.init(object.self, states, 2) == YT_OK);
  std::vector<void*> into;
  std::vector<yt_str> strings;
  std::vector<uint64_t> packed;
  for (size_t i = 0; i < values.size(); ++i) {
    into.push_back(states[i % 3 == 0]);
    strings.push_back(str(values[i]));
    uint64_t x = 0;
    if (v8) std::memcpy(&x, values[i].data(), 8);
    packed.push_back(x);
  }
  CHECK(f.fold(object.self, into.data(), v8 ? nullptr : strings.data(), v8 ? packed.data() : nullptr,
      static_cast<uint32_t>(values.size())) == YT_OK);
  const void* from = states[1];
  CHECK(f.merge(object.self, states, &from, 1) == YT_OK);
  Sink sink(YT_FORM_COPY, 8);
  const std::string key = "a key of more than sixteen bytes";
  const yt_str k = str(key);
  const void* state = states[0];
  const yt_status status = f.finish(object.self, &k, &state, 1, &sink.out);
  if (status != YT_OK) return {"status", std::to_string(status)};
  CHECK(sink.take().size() == 1 && sink.records[0].first == key);
  return sink.records[0];
}

static void folders(Host& host) {
  std::vector<std::string> doubles, letters;
  for (int i = 0; i < 64; ++i) {
    const double d = i;
    doubles.emplace_back(reinterpret_cast<const char*>(&d), 8);
    letters.push_back(std::string(static_cast<size_t>(i % 3), static_cast<char>('a' + i % 3)));
  }
  const double mean = 31.5;
  for (const size_t shift : {0, 1, 4}) {
    CHECK(fold(host, "Test.Mean", doubles, true, shift).second == std::string(reinterpret_cast<const char*>(&mean), 8));
    CHECK(fold(host, "Test.Letters", letters, false, shift).second == "b21c42");
  }
  CHECK(fold(host, "Test.Mean", {}, true, 0) == Record("status", "1") && host.error == "a mean of nothing");
  const std::vector<Group> groups = {{"k", doubles}};
  CHECK((reduce(host, "Test.MeanReducer", groups, true,
      10) == Records{{"k", std::string(reinterpret_cast<const char*>(&mean), 8)}}));
}

static void partitioners(Host& host) {
  const Records in = {{"a", "x"}, {"bb", ""}, {"", ""}, {"cccc", "yy"}};
  const Batch batch(in);
  uint32_t part[4];
  {
    Object object(find(library, "Test.ByLength"), host);
    CHECK(object.cls->partition(object.self, &batch.batch, 3, part) == YT_OK);
    CHECK(part[0] == 2 && part[1] == 2 && part[2] == 0 && part[3] == 0);
    yt_batch no_values = batch.batch;
    no_values.voff = no_values.vlen = nullptr;
    CHECK(object.cls->partition(object.self, &no_values, 3, part) == YT_OK && part[0] == 1);
  }
  Object object(find(library, "Test.ByNumber"), host);
  const Batch numbers(Records{{number(1), ""}, {number(3), ""}});
  CHECK(object.cls->partition(object.self, &numbers.batch, 4, part) == YT_OK && part[0] == 1 && part[1] == 3);
  CHECK(object.cls->partition(object.self, &numbers.batch, 3, part) == YT_FAIL &&
      host.error.find("returned 3 for 3 partitions") != std::string::npos);
  CHECK(object.cls->partition(object.self, &batch.batch, 3, part) == YT_FAIL);
}

// Returns the forms and groups of records, written through blocks of `block_bytes`.
static std::vector<std::pair<std::string, uint32_t>> arrange(Host& host, const char* cls, const Records& in,
    size_t block_bytes) {
  Object object(find(library, cls), host);
  const Batch batch(in);
  mock::Sink sink(YT_FORM_COPY, block_bytes);
  std::vector<uint32_t> group(in.size(), UINT32_MAX);
  if (object.cls->arrange(object.self, &batch.batch, &sink.out, group.data()) != YT_OK) return {};
  std::vector<std::pair<std::string, uint32_t>> forms;
  for (const Record& r : sink.take()) {
    CHECK(r.second.empty());
    forms.emplace_back(r.first, group[forms.size()]);
  }
  CHECK(forms.size() == in.size());
  return forms;
}

static void key_orders(Host& host) {
  // Ascending, with every part at its limits; '!' makes a part descending.
  const std::string nul("a\0b", 3), nuls("a\0", 2);
  Records in;
  for (const std::string& text : {std::string(), std::string("a"), nuls, nul, std::string("a\1"), std::string("ab"),
      std::string(70000, 'b')})
    for (const char* integer : {"-2147483648", "-1", "0", "1", "2147483647"})
      for (const char* real : {"-1e300", "-1.5", "-0.0", "0.0", "1e-300", "2"})
        in.emplace_back(text + ';' + integer + ';' + real, "");
  for (const size_t block : {size_t{64}, size_t{1} << 18}) {
    const auto forms = arrange(host, "Test.ByParts", in, block);
    CHECK(forms.size() == in.size());
    for (size_t i = 0; i < forms.size(); ++i) {
      if (i > 0) CHECK(forms[i - 1].first < forms[i].first);
      // A group is a text with 30 records.
      const auto group = [&](size_t j) { return forms[j].first.substr(0, forms[j].second); };
      if (i > 0) CHECK((group(i) == group(i - 1)) == (i % 30 != 0));
    }
  }
  const auto turned = arrange(host, "Test.ByParts", {{"!b;0;0", ""}, {"!ab;!1;0", ""}, {"!ab;!0;!1", ""},
      {"!ab;!0;!0.5", ""}, {"!a;0;0", ""}}, 64);
  for (size_t i = 1; i < turned.size(); ++i) CHECK(turned[i - 1].first < turned[i].first);
  CHECK(turned.size() == 5);
  const auto decimals =
      arrange(host, "Test.ByDecimal", {{"", "100000000000000000000001"}, {"", "12.50"}, {"", "012.5x"}, {"", "12"},
      {"", "0.05"}, {"", "-"}, {"", "-0.05"}, {"", " -7"}}, 64);
  for (size_t i = 1; i < decimals.size(); ++i)
    CHECK(i == 2 ? decimals[1] == decimals[2] : decimals[i - 1].first < decimals[i].first);
  CHECK(decimals.size() == 8);
  CHECK(arrange(host, "Test.Undeclared", {{number(1), ""}}, 64).empty() &&
      host.error.find("groups = true") != std::string::npos);
  CHECK(arrange(host, "Test.Undeclared", {{"short", ""}}, 64).empty() &&
      host.error.find("differ in length") != std::string::npos);

  // Values with their own keys, in one batch and over two.
  for (const char* cls : {"Test.Keyed", "Test.KeyedWhole"}) {
    Object object(find(library, cls), host);
    const std::string data = "k1k2v1v2";
    const mock::Guarded bytes(data);
    const uint32_t koff[] = {0}, klen[] = {2}, voff[] = {4, 6}, vlen[] = {2, 2}, vkoff[] = {0, 2}, vklen[] = {2, 2},
        first[] = {0, 2};
    yt_groups groups{};
    groups.size = sizeof groups;
    groups.n = 1;
    groups.base = bytes.p;
    groups.koff = koff, groups.klen = klen, groups.first = first, groups.voff = voff, groups.vlen = vlen;
    groups.vkoff = vkoff, groups.vklen = vklen;
    mock::Sink sink;
    CHECK(object.cls->reduce(object.self, &groups, &sink.out) == YT_OK);
    groups.flags = YT_GROUP_MORE;
    CHECK(object.cls->reduce(object.self, &groups, &sink.out) == YT_OK);
    groups.flags = YT_GROUP_CONT;
    CHECK(object.cls->reduce(object.self, &groups, &sink.out) == YT_OK);
    CHECK((sink.take() == Records{{"k1", "k1=v1 k2=v2 "}, {"k1", "k1=v1 k2=v2 k1=v1 k2=v2 "}}));
  }
}

static void readers(Host& host) {
  const yt_class* lengths = find(library, "Test.Lengths");
  CHECK(lengths->kind == YT_READER && lengths->key_type == YT_U64 && lengths->value_type == YT_BYTES &&
      lengths->reader->find == nullptr);
  std::string file;
  Records want;
  for (size_t i = 0; i < 40; ++i) {
    const std::string value(i * 37 % 250, static_cast<char>('a' + i % 26));
    want.emplace_back(number(static_cast<int64_t>(file.size())), value);
    file += static_cast<char>(value.size()) + value;
  }
  yt_status status = YT_OK;
  for (const size_t step : {size_t{1}, size_t{7}, size_t{300}, size_t{1} << 20})
    CHECK(read_file(lengths, host, file, 0, step, &status) == want && status == YT_OK);

  const yt_class* sentences = find(library, "Test.Sentences");
  CHECK(sentences->reader->look_back == 1 && sentences->reader->find != nullptr &&
      sentences->reader->size == sizeof(yt_reader));
  const std::string text = "One. Two words..A longer one, with many words in it. No end";
  want = {{"One", ""}, {" Two words", ""}, {"", ""}, {"A longer one, with many words in it", ""}, {" No end", ""}};
  for (size_t split = 1; split <= text.size() + 1; ++split)
    for (const size_t step : {size_t{1}, size_t{3}, size_t{100}})
      CHECK(read_file(sentences, host, text, split, step, &status) == want && status == YT_OK);
  read_file(sentences, host, "Oh. No!", 0, 100, &status);
  CHECK(status == YT_FAIL && host.error == "no need to shout");
}

static void writers(Host& host) {
  const yt_class* table = find(library, "Test.Table");
  const yt_writer& w = *table->writer;
  CHECK(table->kind == YT_WRITER && table->key_type == YT_BYTES && table->value_type == YT_I64 && w.flags == 0 &&
      std::string(w.extension) == ".table");
  const std::string large(100000, 'x');
  const Batch batch(Records{{"a", number(-1)}, {"", number(0)}, {large, number(7)}, {"b", number(INT64_MIN)}});
  for (const size_t block : {size_t{1}, size_t{16}, size_t{1} << 18}) {
    Object object(table, host);
    Sink sink(YT_FORM_BYTES, block);
    CHECK(w.begin(object.self, &sink.out) == YT_OK && w.write(object.self, &batch.batch, &sink.out) == YT_OK &&
        w.end(object.self, &sink.out) == YT_OK);
    sink.take();
    CHECK(sink.bytes == "head\na=-1\n=0\n" + large + "=7\nb=-9223372036854775808\n" + std::string("\7\0\0\0", 4));
    CHECK((sink.bigs == 1) == (block < large.size()));
    const Batch bad(Records{{"bad", number(1)}}), odd(Records{{"k", "123"}});
    CHECK(w.write(object.self, &bad.batch, &sink.out) == YT_FAIL && host.error == "a bad key");
    CHECK(w.write(object.self, &odd.batch, &sink.out) == YT_FAIL &&
        host.error.find("differ in length") != std::string::npos);
    sink.stop_after = sink.fulls;
    if (block == 1) CHECK(w.begin(object.self, &sink.out) == YT_STOP);
  }
  const yt_class* keys = find(library, "Test.Keys");
  CHECK(keys->writer->flags == YT_WHOLE_PART && keys->writer->begin == nullptr && keys->writer->end == nullptr &&
      keys->writer->extension == nullptr);
  Object object(keys, host);
  Sink sink(YT_FORM_BYTES, 4);
  const Batch two(Records{{"k", ""}, {"l", ""}});
  for (int i = 0; i < 2; ++i) CHECK(keys->writer->write(object.self, &two.batch, &sink.out) == YT_OK);
  sink.take();
  CHECK(sink.bytes == "1k2l3k4l" && keys->key_type == YT_NONE);
}

static void c_library(const char* path) {
  const yt_library* c = load(path);
  CHECK(load(path, (YT_ABI_MAJOR + 1) << 16) == nullptr);
  library = c;
  Host host;
  CHECK((map(host, "C.Lines", Batch("b\na\n", false), YT_FORM_COPY, 32)
      .records == Records{{"b", number(1)}, {"a", number(1)}}));
  CHECK(host.counters["C/LINES"] == 2);

  const Records pairs = {{"key", "value"}, {"", ""}, {std::string(300, 'k'), std::string(65535, 'v')}};
  Object writer(find(c, "C.PairsOut"), host);
  Sink bytes(YT_FORM_BYTES, 16);
  const Batch batch(pairs);
  CHECK(writer.cls->writer->write(writer.self, &batch.batch, &bytes.out) == YT_OK);
  bytes.take();
  yt_status status = YT_OK;
  CHECK(bytes.bytes.size() == 12 + 8 + 300 + 65535 &&
      read_file(find(c, "C.Pairs"), host, bytes.bytes, 0, 10, &status) == pairs && status == YT_OK);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  library = load(argv[1]);
  CHECK(load(argv[1], (YT_ABI_MAJOR + 1) << 16) == nullptr);      // another major version
  CHECK(load(argv[1], YT_ABI_MAJOR << 16 | 999) != nullptr);      // a newer minor one
  Host host;
  tables();
  forms(host);
  records(host);
  big_records();
  failures();
  context();
  groups(host);
  folders(host);
  partitioners(host);
  key_orders(host);
  readers(host);
  writers(host);
  c_library(argv[2]);
  std::puts("host_test: ok");
}
