// A writer of tables that follows docs/formats/ytab.md to the letter, and shares no code with `yunti table build`: what
// both write must be read alike. It holds all in memory, and looks for pilots one by one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <yunti/table.hpp>

#include "../check.hpp"

// Returns the text of the Error that a call throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const yunti::Error& e) {
    return e.what();
  }
  return {};
}

namespace writer {

using yunti::table::ColumnType;

struct Col {
  std::string name;
  ColumnType type;
  bool is_nullable = false;
  std::vector<Col> inner = {};
};

// A value: its bytes, or its fields or elements.
struct Node {
  bool is_missing = false;
  std::string bytes = {};
  std::vector<Node> inner = {};
};

template <class T>
std::string raw(T value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

inline Node number(ColumnType type, int64_t value) { return {false, raw(value).substr(0, yunti::table::width_of(type))}; }

inline std::string leb(uint64_t n) {
  std::string out;
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  return out + static_cast<char>(n);
}

// ---- the index: hash, bucket and slot of a key --------------------------------------------------------------------

__extension__ typedef unsigned __int128 Wide;

inline uint64_t upper(uint64_t a, uint64_t b) { return static_cast<uint64_t>((Wide{a} * b) >> 64); }
inline uint64_t fold(uint64_t a, uint64_t b) { return upper(a, b) ^ a * b; }

inline uint64_t hash(const std::string& key, uint64_t seed) {
  constexpr uint64_t A = 0x2d358dccaa6c78a5u, B = 0x8bb84b93962eacc9u, C = 0x4b33a62ed433d4a3u;
  const size_t n = key.size();
  // A number of some bytes, the lowest first.
  const auto number = [&](size_t at, size_t bytes) {
    uint64_t out = 0;
    for (size_t i = bytes; i-- > 0;) out = out * 256 + static_cast<uint8_t>(key[at + i]);
    return out;
  };
  const uint64_t start = fold(seed ^ A, B);
  if (n == 8) return fold(number(0, 8) ^ start, B);
  uint64_t s = start ^ n * C, a = 0, b = 0;
  for (size_t at = 0; n - at > 16; at += 16) s = fold(number(at, 8) ^ s, number(at + 8, 8) ^ B);
  if (n > 8) {
    a = number(n < 16 ? 0 : n - 16, 8);
    b = number(n - 8, 8);
  } else if (n >= 4) {
    a = number(0, 4);
    b = number(n - 4, 4);
  } else if (n > 0) {
    a = number(0, 1) + (number(n / 2, 1) << 8) + (number(n - 1, 1) << 16);
  }
  return fold(a ^ s, b ^ B);
}

struct Index {
  uint32_t parts, buckets, slots;
  uint64_t bucket(uint64_t h) const { return upper(h, uint64_t{parts} * buckets); }
  uint64_t part(uint64_t h) const { return bucket(h) / buckets; }
  uint64_t slot(uint64_t h, uint64_t pilot) const {
    const uint64_t x = (h ^ pilot * 0x4d5a2da51de1aa47u) * 0x9E3779B97F4A7C15u;
    return part(h) * slots + upper(x, slots);
  }
};

// ---- rows and the file --------------------------------------------------------------------------------------------

inline std::string row_bytes(const std::vector<const Col*>& cols, const std::vector<Node>& values);

inline std::string value_bytes(const Col& col, const Node& node) {
  std::vector<const Col*> inner;
  if (node.is_missing) return {};
  if (col.type == ColumnType::Record) {
    for (const Col& field : col.inner) inner.push_back(&field);
    return row_bytes(inner, node.inner);
  }
  if (col.type == ColumnType::List) {
    inner.assign(node.inner.size(), &col.inner[0]);
    return leb(node.inner.size()) + row_bytes(inner, node.inner);
  }
  return node.bytes;
}

inline std::string row_bytes(const std::vector<const Col*>& cols, const std::vector<Node>& values) {
  std::string bits, fixed, lengths, others;
  size_t bit = 0;
  for (size_t i = 0; i < cols.size(); ++i) {
    const size_t width = yunti::table::width_of(cols[i]->type);
    const std::string bytes = value_bytes(*cols[i], values[i]);
    if (cols[i]->is_nullable) {
      if (bit % 8 == 0) bits += '\0';
      if (values[i].is_missing) bits.back() = static_cast<char>(bits.back() | 1 << bit % 8);
      ++bit;
    }
    if (width != 0) {
      fixed += values[i].is_missing ? std::string(width, '\0') : bytes;
    } else {
      lengths += leb(bytes.size());
      others += bytes;
    }
  }
  return bits + fixed + lengths + others;
}

inline std::string schema_bytes(const std::vector<Col>& cols);

inline std::string column_bytes(const Col& col) {
  std::string out = {static_cast<char>(col.type), static_cast<char>(col.is_nullable)};
  out += raw(static_cast<uint16_t>(col.name.size())) + col.name;
  if (col.type == ColumnType::Record) out += schema_bytes(col.inner);
  if (col.type == ColumnType::List) out += column_bytes(col.inner[0]);
  return out;
}

inline std::string schema_bytes(const std::vector<Col>& cols) {
  std::string out = raw(static_cast<uint16_t>(cols.size()));
  for (const Col& col : cols) out += column_bytes(col);
  return out;
}

// A value of a key as it is ordered: a number, or a text.
using Part = std::pair<uint64_t, std::string>;

inline Part part_of(const Col& col, const Node& node) {
  if (yunti::table::width_of(col.type) == 0) return {0, node.bytes};
  uint64_t bits = 0;
  std::memcpy(&bits, node.bytes.data(), node.bytes.size());
  if (!yunti::table::is_signed(col.type)) return {bits, {}};
  const auto unused = 64 - 8 * node.bytes.size();
  const int64_t value = static_cast<int64_t>(bits << unused) >> unused;
  return {static_cast<uint64_t>(value) ^ uint64_t{1} << 63, {}};
}

// A table to write.
struct Table {
  std::vector<Col> cols = {};
  std::vector<uint16_t> keys = {0};
  std::vector<std::vector<Node>> rows = {};
  bool is_multi = false, is_ordered = false;
  uint32_t parts = 1;
  uint32_t end_bytes = 4;
  // Buckets of each part; 0 for as many as fit. Readers refuse numbers that are no power of two.
  uint32_t buckets = 0;

  std::vector<Part> key_of(const std::vector<Node>& row) const {
    std::vector<Part> key;
    for (const uint16_t k : keys) key.push_back(part_of(cols[k], row[k]));
    return key;
  }

  std::string hashed(const std::vector<Part>& key) const {
    std::string out;
    for (size_t i = 0; i < key.size(); ++i) {
      const Col& col = cols[keys[i]];
      const bool is_number = yunti::table::width_of(col.type) != 0;
      if (is_number) {
        out += raw(yunti::table::is_signed(col.type) ? key[i].first ^ uint64_t{1} << 63 : key[i].first);
      } else {
        if (i + 1 < key.size()) out += raw(static_cast<uint32_t>(key[i].second.size()));
        out += key[i].second;
      }
    }
    return out;
  }

  // Returns the rows of each key, in the order of keys.
  std::map<std::vector<Part>, std::vector<size_t>> by_key() const {
    std::map<std::vector<Part>, std::vector<size_t>> all;
    for (size_t i = 0; i < rows.size(); ++i) all[key_of(rows[i])].push_back(i);
    return all;
  }

  std::string bytes() const;
};

// Sets the sums of a table's blocks and header, as after a change.
inline void seal(std::string& file) {
  const auto sum = [&](size_t at, size_t n) { return yunti::table::detail::checksum_of(file.data() + at, n); };
  const auto put = [&](size_t at, uint32_t value) { std::memcpy(&file[at], &value, 4); };
  put(4092, sum(0, 4092));
  uint64_t sums;
  std::memcpy(&sums, &file[64 + 8 * 16], 8);
  for (uint64_t at = 0; at < sums && sums + at / 65536 * 4 + 4 <= file.size(); at += 65536)
    put(sums + at / 65536 * 4, sum(at, std::min<uint64_t>(65536, sums - at)));
}

inline std::string Table::bytes() const {
  const auto all = by_key();
  // Texts of dictionaries, and rows with their numbers.
  std::string dictionaries;
  std::vector<std::vector<Node>> numbered = rows;
  for (size_t c = 0; c < cols.size(); ++c) {
    if (cols[c].type != ColumnType::Dict) continue;
    std::map<std::string, uint32_t> numbers;
    std::string ends, texts;
    for (auto& row : numbered) {
      if (row[c].is_missing) continue;
      const auto [at, is_new] = numbers.emplace(row[c].bytes, static_cast<uint32_t>(numbers.size()));
      if (is_new) {
        texts += row[c].bytes;
        ends += raw(static_cast<uint32_t>(texts.size()));
      }
      row[c].bytes = raw(at->second);
    }
    dictionaries.resize((dictionaries.size() + 7) / 8 * 8);
    dictionaries += raw(uint64_t{numbers.size()}) + raw(uint64_t{texts.size()}) + ends + texts;
  }
  bool is_fixed = !is_multi;
  std::vector<const Col*> of_row;
  for (const Col& col : cols) {
    is_fixed &= yunti::table::width_of(col.type) != 0;
    of_row.push_back(&col);
  }
  // The index: pilots of the largest buckets first.
  uint64_t seed = 1;
  Index index{parts, buckets == 0 ? 1 : buckets, 0};
  while (buckets == 0 && index.buckets < all.size() / parts / 2) index.buckets *= 2;
  std::string pilots;
  std::map<uint64_t, const std::vector<size_t>*> slot_rows;
  std::map<std::vector<Part>, uint64_t> slot_of;
  for (bool is_done = all.empty(); !is_done; ++seed) {
    std::map<uint64_t, std::vector<std::pair<uint64_t, const std::vector<Part>*>>> by_bucket;
    std::vector<uint32_t> part_keys(parts);
    for (const auto& [key, of] : all) {
      const uint64_t h = hash(hashed(key), seed);
      by_bucket[index.bucket(h)].emplace_back(h, &key);
      ++part_keys[index.part(h)];
    }
    index.slots = *std::max_element(part_keys.begin(), part_keys.end());
    index.slots += index.slots / 10 + 2 + static_cast<uint32_t>(seed);
    std::vector<uint64_t> sizes;
    for (const auto& [bucket, of] : by_bucket) sizes.push_back(bucket);
    std::stable_sort(sizes.begin(), sizes.end(),
                     [&](uint64_t a, uint64_t b) { return by_bucket[a].size() > by_bucket[b].size(); });
    pilots.assign(uint64_t{parts} * index.buckets, '\0');
    slot_rows.clear();
    slot_of.clear();
    is_done = true;
    for (const uint64_t bucket : sizes) {
      bool is_placed = false;
      for (uint64_t k = 0; k < 256 && !is_placed; ++k) {
        std::map<uint64_t, const std::vector<Part>*> taken;
        for (const auto& [h, key] : by_bucket[bucket]) {
          const uint64_t slot = index.slot(h, k);
          if (slot_rows.count(slot) == 0) taken.emplace(slot, key);
        }
        if (taken.size() != by_bucket[bucket].size()) continue;
        is_placed = true;
        pilots[bucket] = static_cast<char>(k);
        for (const auto& [slot, key] : taken) {
          slot_rows[slot] = &all.at(*key);
          slot_of[*key] = slot;
        }
      }
      is_done &= is_placed;
    }
    if (is_done) break;
  }
  const uint32_t own_parts = all.empty() ? 0 : parts;
  const uint64_t all_slots = uint64_t{own_parts} * index.slots;
  // Rows.
  std::string used, groups, data;
  uint32_t fixed_bytes = 0;
  const auto slot_bytes = [&](uint64_t slot) {
    std::string out;
    const auto found = slot_rows.find(slot);
    if (found == slot_rows.end()) return out;
    for (const size_t row : *found->second) {
      const std::string one = row_bytes(of_row, numbered[row]);
      out += is_multi ? leb(one.size()) + one : one;
    }
    return out;
  };
  if (is_fixed && !all.empty()) {
    fixed_bytes = static_cast<uint32_t>(row_bytes(of_row, numbered[0]).size());
    used.resize((all_slots + 63) / 64 * 8);
    for (uint64_t slot = 0; slot < all_slots; ++slot) {
      if (slot_rows.count(slot) != 0) used[slot / 8] = static_cast<char>(used[slot / 8] | 1 << slot % 8);
      data += slot_rows.count(slot) != 0 ? slot_bytes(slot) : row_bytes(of_row, numbered[0]);
    }
  }
  for (uint64_t group = 0; !is_fixed && group * 16 < all_slots; ++group) {
    groups += raw(uint64_t{data.size()});
    std::string rest;
    for (uint64_t slot = group * 16; slot <= group * 16 + 16; ++slot) {
      CHECK(end_bytes == 4 || rest.size() < 65536);
      groups += raw(static_cast<uint32_t>(rest.size())).substr(0, end_bytes);
      if (slot < all_slots && slot < group * 16 + 16) rest += slot_bytes(slot);
    }
    data += rest;
  }
  // The order.
  std::string order, fences;
  uint64_t position = 0;
  for (const auto& [key, of] : all) {
    if (!is_ordered) break;
    order += raw(static_cast<uint32_t>(slot_of[key]));
    if (position++ % 64 == 0) {
      uint64_t begin = key[0].first;
      if (yunti::table::width_of(cols[keys[0]].type) == 0)
        for (size_t i = 0; i < 8; ++i)
          begin = begin << 8 | (i < key[0].second.size() ? static_cast<uint8_t>(key[0].second[i]) : 0);
      fences += raw(begin);
    }
  }
  std::string schema = schema_bytes(cols) + raw(static_cast<uint16_t>(keys.size()));
  for (const uint16_t key : keys) schema += raw(key);

  std::string file(4096, '\0');
  const auto put = [&](size_t at, const std::string& value) { file.replace(at, value.size(), value); };
  put(0, std::string("YTAB\x89\r\n\x1a", 8) + raw(uint32_t{2}) + raw(uint32_t{is_multi} | uint32_t{is_ordered} << 1));
  put(16, raw(uint64_t{all.size()}) + raw(uint64_t{rows.size()}) + raw(seed));
  put(40, raw(own_parts) + raw(all.empty() ? 0u : index.buckets) + raw(all.empty() ? 0u : index.slots));
  put(52, raw(fixed_bytes) + raw(is_fixed ? 0u : end_bytes));
  const std::string* const sections[] = {&schema, &pilots, &used, &groups, &data, &dictionaries, &order, &fences};
  size_t place = 64;
  for (const std::string* section : sections) {
    file.resize((file.size() + 7) / 8 * 8);
    put(place, raw(uint64_t{file.size()}) + raw(uint64_t{section->size()}));
    file += *section;
    place += 16;
  }
  file.resize((file.size() + 7) / 8 * 8);
  const uint64_t blocks = (file.size() + 65535) / 65536;
  put(place, raw(uint64_t{file.size()}) + raw(4 * blocks));
  file.resize(file.size() + 4 * blocks);
  seal(file);
  return file;
}

}  // namespace writer
