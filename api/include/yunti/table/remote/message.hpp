// Messages of docs/formats/table-protocol.md: frames, numbers and strings, and what a server says of a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <locale>
#include <map>
#include <sstream>

#include "../key.hpp"
#include "failure.hpp"

namespace yunti {
namespace table {
namespace detail {

constexpr uint16_t protocol_version = 2;

// Kinds of frames.
enum class Message : uint8_t { Error, Hello, Open, Get, Metrics };

// Bytes behind the length of a frame.
constexpr uint32_t frame_bytes_min = 5, frame_bytes_max = 1 << 24;
// Bytes of the length, the number and the kind.
constexpr size_t frame_head_bytes = 9;

template <class T>
void put(std::string& out, T number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }

inline void put_string(std::string& out, std::string_view text) {
  if (text.size() > UINT16_MAX) throw Error("a token or name for a table server has at most 65,535 bytes");
  put(out, static_cast<uint16_t>(text.size()));
  out.append(text);
}

inline void put_length(std::string& out, uint64_t length) {
  for (; length >= 0x80; length >>= 7) out += static_cast<char>(length | 0x80);
  out += static_cast<char>(length);
}

// Appends a frame of some parts.
inline void put_frame(std::string& out, uint32_t number, Message kind, std::string_view first,
                      std::string_view second = {}) {
  const size_t bytes = frame_bytes_min + first.size() + second.size();
  if (bytes > frame_bytes_max)
    throw Error("a request to a table server has at most 16 MiB: give shorter keys, or fewer columns");
  put(out, static_cast<uint32_t>(bytes));
  put(out, number);
  put(out, kind);
  out.append(first).append(second);
}

// Bytes of a frame behind its head.
struct Payload {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
};

// Unread bytes of a payload. Throws Error for bytes that are none, as the readers of files do.
struct Parts {
  const char *p, *end;

  explicit Parts(const Payload& payload) : p(payload.bytes.get()), end(p + payload.size) {}

  template <class T>
  T number() { return yunti::detail::load<T>(take(sizeof(T))); }
  std::string_view string() {
    const uint16_t length = number<uint16_t>();
    return {take(length), length};
  }
  // Returns bytes behind their length in LEB128.
  std::string_view value() {
    const uint32_t length = length_at(p, end);
    return {take(length), length};
  }
  uint64_t left() const { return static_cast<uint64_t>(end - p); }
  void finish() const {
    if (p != end) damaged("a message is too long");
  }

 private:
  YUNTI_INLINE const char* take(uint64_t bytes) {
    if (YUNTI_UNLIKELY(bytes > left())) damaged("a message is cut");
    return (p += bytes) - bytes;
  }
};

// Reads a page of counters for Prometheus: `name{labels} value` in a line, and comments that begin with #.
inline std::map<std::string, double> read_counters(std::string_view page) {
  std::map<std::string, double> counters;
  for (size_t at = 0, end; at < page.size(); at = end + 1) {
    end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    if (line.empty() || line.front() == '#') continue;
    const size_t space = std::min(line.rfind(' '), line.size());
    // A program's locale may have another point.
    std::istringstream number{std::string(line.substr(std::min(space + 1, line.size())))};
    number.imbue(std::locale::classic());
    double value = 0;
    if (!(number >> value) || !number.eof()) damaged("its counters are no page for Prometheus");
    counters[std::string(line.substr(0, space))] = value;
  }
  return counters;
}

// Columns of a table as servers send them: those of the key alone, and those of rows.
struct RemoteSchema {
  Fields key, row;
};

// What a server says of a table.
struct Opened {
  // Most columns of all depths: a hostile response would take more memory than its frame.
  static constexpr uint64_t columns_max = UINT16_MAX;
  // Most shards. A client looks for a server of each, and has an entry for each in every lookup.
  static constexpr uint32_t shards_max = 1 << 16;

  uint32_t handle = 0;
  uint64_t version = 0;
  // Number of the server's shard, from 1, and of all shards.
  uint32_t shard = 1, shards = 1;
  bool has_lists = false;
  // True if the server's file has the keys of all shards.
  bool is_whole = false;
  // Bytes of all columns: equal if the columns are.
  std::string schema;

  Opened() = default;
  explicit Opened(const Payload& payload) {
    Parts parts(payload);
    handle = parts.number<uint32_t>();
    version = parts.number<uint64_t>();
    parts.number<uint64_t>();
    parts.number<uint64_t>();
    shard = parts.number<uint32_t>();
    shards = parts.number<uint32_t>();
    const auto flags = parts.number<uint8_t>();
    has_lists = (flags & 1) != 0;
    is_whole = (flags & 2) != 0 || shards == 1;
    if (shard == 0 || shard > shards || shards > shards_max) damaged("its shard is none");
    schema.assign(parts.p, parts.left());
  }

  // Reads the columns.
  std::shared_ptr<const RemoteSchema> read() const {
    auto of = std::make_shared<RemoteSchema>();
    SchemaReader reader{schema.data(), schema.size(), false, columns_max};
    for (size_t n = reader.number(2); n > 0; --n) {
      Column column;
      const size_t type = reader.number(1);
      if (type > static_cast<size_t>(ColumnType::List) || !can_be_key(static_cast<ColumnType>(type)))
        damaged("its key is none");
      column.type = static_cast<ColumnType>(type);
      column.width = static_cast<uint8_t>(width_of(column.type));
      const size_t bytes = reader.number(2);
      column.name.assign(reader.take(bytes), bytes);
      of->key.columns.push_back(std::move(column));
    }
    if (of->key.columns.empty()) damaged("it has no key");
    of->row.columns = reader.columns();
    if (reader.left != 0) damaged("its schema is too long");
    of->key.place();
    of->row.place();
    return of;
  }
};

}  // namespace detail
}  // namespace table
}  // namespace yunti
