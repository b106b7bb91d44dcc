// Benchmark of a mapper: nanoseconds per emitted record, by form of output, for spans and lines. Not a test.
//
//   mapper_bench LIBRARY.so CLASS [FILE|--tiny]        without FILE: 4 MB of words of about ten letters, 62 a line
//
// The text is in memory and comes in batches of 64 KB; each full block of 256 KB is discarded. So this is the time of
// the class alone, without the engine. The result is the best of 200 short rounds, which is stable on a busy machine.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>

#include "mock_host.hpp"
struct Cursor {
  std::vector<uint8_t> block = std::vector<uint8_t>((1 << 18) + YT_SLACK);
  yt_out out{};

  explicit Cursor(yt_form form) {
    out.size = sizeof out;
    out.form = form;
    out.engine = this;
    out.full = [](yt_out* o, uint64_t) {
      static_cast<Cursor*>(o->engine)->reset();
      return yt_status{YT_OK};
    };
    out.big = [](yt_out*, yt_str, yt_str) { return yt_status{YT_OK}; };
    reset();
  }
  void reset() {
    out.cur = block.data();
    out.end = block.data() + (1 << 18);
  }
};

static std::string made_text() {
  std::mt19937 random(1);
  std::normal_distribution<> length(10, 4);
  std::vector<std::string> words(1000);
  for (std::string& w : words)
    for (int n = std::max(1, static_cast<int>(length(random))); n > 0; --n) w += static_cast<char>('a' + random() % 26);
  std::string text;
  for (int i = 1; text.size() < (4u << 20); ++i) text += words[random() % words.size()] + (i % 62 == 0 ? '\n' : ' ');
  return text + '\n';
}

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: mapper_bench LIBRARY.so CLASS [FILE|--tiny]\n"), 2;
  std::string text;
  const bool tiny = argc > 3 && std::string(argv[3]) == "--tiny";
  if (tiny) {
    text = std::string("a few words, so that this program cannot rot\n");
  } else if (argc > 3) {
    std::ifstream in(argv[3], std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    text = made_text();
  }
  const uint64_t bytes = text.size();
  text.append(YT_SLACK, 0);

  const yt_class* cls = mock::find(mock::load(argv[1]), argv[2]);
  mock::Host host;
  host.context.abi_minor = 1;  // without the engine's SIMD: otherwise the mock's slow replacement would be measured
  // Pieces of the text: [begin, end) of each batch at line ends, and the lines of each.
  struct Piece {
    uint64_t begin, end;
    std::vector<uint32_t> off, len;
  };
  std::vector<Piece> pieces;
  for (uint64_t b = 0; b < bytes;) {
    uint64_t e = std::min(b + 65536, bytes);
    if (e < bytes) e = text.find('\n', e) == std::string::npos ? bytes : text.find('\n', e) + 1;
    Piece piece{b, e, {}, {}};
    for (uint64_t i = b; i < e;) {
      const uint64_t n = std::min<uint64_t>(text.find('\n', i), e);
      piece.off.push_back(static_cast<uint32_t>(i - b));
      piece.len.push_back(static_cast<uint32_t>(n - i));
      i = n + 1;
    }
    pieces.push_back(std::move(piece));
    b = e;
  }

  const auto run = [&](const char* how, yt_form form, bool span, uint64_t records) {
    double best = 1e9;
    for (int round = 0; round < (tiny ? 1 : 200); ++round) {
      mock::Object object(cls, host);
      Cursor cursor(form);
      const auto t = std::chrono::steady_clock::now();
      for (const Piece& piece : pieces) {
        yt_batch batch{};
        batch.size = sizeof batch;
        batch.base = reinterpret_cast<const uint8_t*>(text.data()) + piece.begin;
        batch.bytes = piece.end - piece.begin;
        batch.first_position = piece.begin;
        batch.flags = span ? YT_BATCH_SPAN : 0;
        if (!span) {
          batch.n = static_cast<uint32_t>(piece.off.size());
          batch.voff = piece.off.data();
          batch.vlen = piece.len.data();
        }
        cursor.out.ref_base = batch.base;
        if (cls->map(object.self, &batch, &cursor.out) != YT_OK) {
          std::fprintf(stderr, "%s\n", host.error.c_str());
          std::exit(1);
        }
      }
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
    }
    std::printf("%-12s %-6s %10llu records  %6.2f ns a record  %6.0f MB/s\n", how, span ? "spans" : "lines",
        static_cast<unsigned long long>(records),
                best * 1e9 / static_cast<double>(records), static_cast<double>(bytes) / best / 1e6);
  };

  mock::Object object(cls, host);
  mock::Sink sink;
  for (const Piece& piece : pieces) {  // counts the records, by the slow way
    mock::Batch batch(std::string_view(text).substr(piece.begin, piece.end - piece.begin),
    (cls->flags & YT_WANTS_SPAN) != 0);
    CHECK(cls->map(object.self, &batch.batch, &sink.out) == YT_OK);
  }
  const uint64_t records = sink.take().size();
  const bool wants_span = (cls->flags & YT_WANTS_SPAN) != 0;
  for (const bool span : {true, false}) {
    if (span && !wants_span) continue;
    if (cls->flags & YT_EMITS_ONE) run("ONE", YT_FORM_ONE, span, records);
    if (cls->flags & YT_EMITS_REFS) run("REF", YT_FORM_REF, span, records);
    run("COPY", YT_FORM_COPY, span, records);
  }
}
