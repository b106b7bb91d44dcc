// Class library of formats: correct and faulty readers and writers.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <yunti/yunti.hpp>

using std::string_view;
using yunti::Any;
using yunti::Bytes;
using yunti::Chunk;
using yunti::Sink;

// ---- binary records: two lengths of four bytes, the key, the value

struct Pairs : yunti::Reader<Bytes, Bytes> {
  explicit Pairs(yunti::Context& context) : records(context.counter("Formats", "PAIRS")) {}

  size_t read(const Chunk& chunk, Out& out) {
    size_t at = 0;
    while (chunk.text.size() - at >= 8) {
      uint32_t n[2];
      std::memcpy(n, chunk.text.data() + at, 8);
      if (chunk.text.size() - at - 8 < uint64_t{n[0]} + n[1]) break;
      out.emit(chunk.text.substr(at + 8, n[0]), chunk.text.substr(at + 8 + n[0], n[1]));
      at += 8 + size_t{n[0]} + n[1];
      ++records;
    }
    return at;
  }

  yunti::Counter records;
};

struct PairsOut : yunti::Writer<Bytes, Bytes> {
  static constexpr const char* extension = ".pairs";
  explicit PairsOut(yunti::Context& context) : records(context.counter("Formats", "PAIRS_OUT")) {}
  void write(string_view key, string_view value, Sink& out) {
    out.raw(static_cast<uint32_t>(key.size())).raw(static_cast<uint32_t>(value.size())).put(key).put(value);
    ++records;
  }
  yunti::Counter records;
};

// ---- paragraphs: lines up to an empty line, keyed by their position

struct Paragraphs : yunti::Reader<uint64_t, Bytes> {
  static constexpr uint32_t look_back = 2;

  size_t find(const Chunk& chunk) {
    const string_view text = chunk.text;
    for (size_t at = chunk.cut; at < text.size(); ++at) {
      if (at >= chunk.limit) return at;
      if (text[at] != '\n' && (at == 0 || (text[at - 1] == '\n' && (at == 1 || text[at - 2] == '\n')))) return at;
    }
    return yunti::kMore;
  }

  size_t read(const Chunk& chunk, Out& out) {
    const string_view text = chunk.text;
    size_t at = 0;
    for (;;) {
      while (at < text.size() && text[at] == '\n') ++at;
      if (at >= chunk.owned()) return at;
      size_t end = text.find("\n\n", at);
      if (end == string_view::npos) {
        if (!chunk.last) return at;
        end = text.size() - (text.back() == '\n');
        out.emit(chunk.position + at, text.substr(at, end - at));
        return text.size();
      }
      out.emit(chunk.position + at, text.substr(at, end - at));
      at = end + 2;
    }
  }
};

// ---- state across a whole file: lines keyed by the first line, and at the end the number of lines

struct Titled : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk& chunk, Out& out) {
    if (chunk.first) title.clear(), lines = 0;
    const size_t end = chunk.text.find('\n');
    if (end != string_view::npos) {  // one line per call
      if (lines++ == 0) {
        title = chunk.text.substr(0, end);
      } else {
        out.emit(title, chunk.text.substr(0, end));
      }
      return end + 1;
    }
    if (chunk.text.empty()) out.emit(title, std::to_string(lines));
    return 0;
  }
  std::string title;
  int lines = 0;
};

// ---- list with a head and a foot, for any key and value types

struct List : yunti::Writer<Any, Any> {
  static constexpr const char* extension = ".xml";
  void begin(Sink& out) { out.put("<list>\n"); }
  void write(string_view key, string_view value, Sink& out) {
    out.put(" <item key='");
    for (char c : key) escaped(c, out);
    out.put("'>");
    for (char c : value) escaped(c, out);
    out.put("</item>\n");
  }
  void end(Sink& out) { out.put("</list>\n"); }

  static void escaped(char c, Sink& out) {
    switch (c) {
      case '<': out.put("&lt;"); break;
      case '&': out.put("&amp;"); break;
      case '\'': out.put("&apos;"); break;
      default: out.put(c);
    }
  }
};

// ---- part with numbered records from beginning to end

struct Numbered : yunti::Writer<Bytes, int64_t> {
  static constexpr bool whole_part = true;
  explicit Numbered(yunti::Context& context) : task(context.task()) {}
  void begin(Sink& out) { out.put("part ").number(task).put('\n'); }
  void write(string_view key, int64_t value, Sink& out) {
    out.number(++n).put(' ').put(key).put(' ').number(value).put('\n');
  }
  void end(Sink& out) { out.put("records ").number(n).put('\n'); }
  uint32_t task;
  int64_t n = 0;
};

// ---- faulty readers and writers

struct Greedy : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk& chunk, Out&) { return chunk.text.size() + 1; }
};
struct Endless : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk&, Out& out) {
    out.emit("again", "");
    return 0;
  }
};
struct Flood : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk& chunk, Out& out) {
    for (;;) out.emit(chunk.text, chunk.text);
  }
};
struct Lazy : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk&, Out&) { return 0; }
};
struct Throwing : yunti::Reader<Bytes, Bytes> {
  size_t read(const Chunk& chunk, Out&) {
    if (chunk.text.find("dog") != string_view::npos) throw std::runtime_error("no dogs");
    return chunk.last ? chunk.text.size() : 0;
  }
};
struct Backwards : Paragraphs {
  size_t find(const Chunk& chunk) { return chunk.cut - 1; }
};
struct Beyond : Paragraphs {
  size_t find(const Chunk& chunk) { return chunk.text.size() < chunk.limit ? chunk.text.size() + 1 : chunk.limit; }
};
struct FindThrows : Paragraphs {
  size_t find(const Chunk&) { throw std::runtime_error("nothing found"); }
};
struct Unmade : yunti::Reader<Bytes, Bytes> {
  explicit Unmade(yunti::Context& context) { context.fail("no reader today"); }
  size_t read(const Chunk& chunk, Out&) { return chunk.text.size(); }
};
template <int When>
struct Fails : yunti::Writer<Any, Any> {
  static constexpr bool whole_part = When > 2;
  void begin(Sink&) { fail(0), fail(3); }
  void write(string_view, string_view, Sink&) { fail(1), fail(4); }
  void end(Sink&) { fail(2), fail(5); }
  static void fail(int now) {
    const char* what = now % 3 == 0 ? "no head" : now % 3 == 1 ? "no record" : "no foot";
    if (now == When) throw std::runtime_error(what);
  }
};

YUNTI_LIBRARY("Formats", "1.0", yunti::reader<Pairs>("Formats.Pairs"), yunti::writer<PairsOut>("Formats.PairsOut"),
              yunti::reader<Paragraphs>("Formats.Paragraphs"), yunti::reader<Titled>("Formats.Titled"),
              yunti::writer<List>("Formats.List"),
              yunti::writer<Numbered>("Formats.Numbered"), yunti::reader<Greedy>("Formats.Greedy"),
              yunti::reader<Endless>("Formats.Endless"),
              yunti::reader<Flood>("Formats.Flood"), yunti::reader<Lazy>("Formats.Lazy"),
              yunti::reader<Throwing>("Formats.Throwing"),
              yunti::reader<Backwards>("Formats.Backwards"), yunti::reader<Beyond>("Formats.Beyond"),
              yunti::reader<FindThrows>("Formats.FindThrows"), yunti::reader<Unmade>("Formats.Unmade"),
              yunti::writer<Fails<0>>("Formats.NoHead"), yunti::writer<Fails<1>>("Formats.NoRecord"),
              yunti::writer<Fails<2>>("Formats.NoFoot"),
              yunti::writer<Fails<3>>("Formats.NoWholeHead"), yunti::writer<Fails<4>>("Formats.NoWholeRecord"),
              yunti::writer<Fails<5>>("Formats.NoWholeFoot"))
