// Test of the examples' classes against their READMEs.
//
//   examples_test libword_count.so libtera_sort.so libmax_by_key.so
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "mock_host.hpp"

using namespace mock;

static Records map(const yt_class* cls, Host& host, const Batch& batch, yt_form form, yt_status want = YT_OK) {
  Object object(cls, host);
  Sink sink(form, 1 << 12, batch.batch.base);
  CHECK(object.cls->map(object.self, &batch.batch, &sink.out) == want);
  return want == YT_OK ? sink.take() : Records();
}

static void word_count(const char* path) {
  const yt_library* library = load(path);
  const yt_class *fast = find(library, "WordCount.Tokenizer"), *plain = find(library, "WordCount.PlainTokenizer");
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 20000, 0);
    for (char& c : text) c = " \nabcdefgh\t\r\f\v"[random() % 15];
    Host host;
    const Records want = map(plain, host, Batch(text, false), YT_FORM_COPY);
    const Batch span(text, true);
    for (const yt_form form : {YT_FORM_COPY, YT_FORM_ONE, YT_FORM_REF}) CHECK(map(fast, host, span, form) == want);
  }
  Host host;
  const Groups groups({{"a", {number(1), number(2)}}, {"b", {number(5)}}}, true, YT_GROUP_MORE);
  const Groups rest({{"b", {number(7)}}}, true, YT_GROUP_CONT);
  for (const char* name : {"WordCount.SumReducer", "WordCount.SumCombiner"}) {
    Object object(find(library, name), host);
    Sink sink;
    CHECK(object.cls->folder->known == YT_FOLD_SUM_I64);
    CHECK(object.cls->reduce(object.self, &groups.groups, &sink.out) == YT_OK &&
        object.cls->reduce(object.self, &rest.groups, &sink.out) == YT_OK);
    CHECK((sink.take() == Records{{"a", number(3)}, {"b", number(12)}}));
  }
  CHECK(find(library, "WordCount.Count")->folder->known == YT_FOLD_COUNT);
}

static void tera_sort(const char* path) {
  const yt_library* library = load(path);
  Host host;
  Records in = {{std::string(10, '\xff'), std::string(90, 'v')}, {std::string(10, 0), std::string(90, 'w')},
      {"", "empty key"}, {"\x80", "short key"}};
  std::mt19937 random(5);
  for (int i = 0; i < 1000; ++i) {
    in.emplace_back(std::string(10, 0), std::string(90, static_cast<char>(i)));
    for (char& c : in.back().first) c = static_cast<char>(random());
  }
  const Batch batch(in);
  CHECK(map(find(library, "TeraSort.Records"), host, batch, YT_FORM_COPY) == in);
  Object object(find(library, "TeraSort.RangePartitioner"), host);
  for (const uint32_t parts : {1u, 2u, 7u, 1000u}) {
    std::vector<uint32_t> part(in.size());
    CHECK(object.cls->partition(object.self, &batch.batch, parts, part.data()) == YT_OK);
    CHECK(part[0] == parts - 1 && part[1] == 0 && part[2] == 0 && part[3] == parts / 2);
    for (size_t i = 0; i + 1 < in.size(); ++i) {
      const bool less = in[i].first.compare(in[i + 1].first) < 0;  // std::string compares bytes as unsigned
      CHECK(less ? part[i] <= part[i + 1] : part[i] >= part[i + 1]);
    }
  }
}

static void max_by_key(const char* path) {
  const yt_library* library = load(path);
  const yt_class* parse = find(library, "MaxByKey.Parse");
  Host host;
  const Batch good("London\t12\r\nOslo\t-14\n\t7\nLima\t9223372036854775807", true);
  const Records want = {{"London", number(12)}, {"Oslo", number(-14)}, {"", number(7)}, {"Lima", number(INT64_MAX)}};
  for (const yt_form form : {YT_FORM_COPY, YT_FORM_REF}) CHECK(map(parse, host, good, form) == want);

  Batch bad("a\t1\nb 2\nc\t3x\nd\t4\n", true);
  bad.batch.first_position = 1000;
  map(parse, host, bad, YT_FORM_REF, YT_FAIL);
  CHECK(host.error.find("byte 1004 of file number 0") != std::string::npos);
  host.settings["max_by_key.bad"] = "skip";
  CHECK((map(parse, host, bad, YT_FORM_REF) == Records{{"a", number(1)}, {"d", number(4)}}) &&
      host.counters["MaxByKey/BAD_LINES"] == 2);
  host.settings["max_by_key.bad"] = "ignore";
  void* self = nullptr;
  CHECK(parse->create(&host.context, &self) == YT_FAIL);

  const yt_class* cls = find(library, "MaxByKey.Max");
  Object object(cls, host);
  const yt_folder& f = *cls->folder;
  CHECK(f.known == YT_FOLD_USER && f.exact == 1 && f.state_size == 8);
  int64_t states[2];
  void* s[2] = {&states[0], &states[1]};
  void* into[4] = {s[0], s[1], s[0], s[1]};
  const int64_t values[4] = {-5, 3, -7, 9};
  const void* from[1] = {s[1]};
  CHECK(f.init(object.self, s, 2) == YT_OK &&
      f.fold(object.self, into, nullptr, reinterpret_cast<const uint64_t*>(values), 4) == YT_OK);
  CHECK(states[0] == -5 && states[1] == 9);
  CHECK(f.merge(object.self, s, from, 1) == YT_OK && states[0] == 9);
  Sink sink;
  const yt_str key = str("k");
  CHECK(f.finish(object.self, &key, from, 1, &sink.out) == YT_OK && (sink.take() == Records{{"k", number(9)}}));
  CHECK(find(library, "MaxByKey.KnownMax")->folder->known == YT_FOLD_MAX_I64);
}

int main(int argc, char** argv) {
  CHECK(argc == 4);
  word_count(argv[1]);
  tera_sort(argv[2]);
  max_by_key(argv[3]);
  std::puts("examples_test: ok");
}
