// Shared tables: a file of `yunti table build` (.ytab), mapped by every process that looks up its keys.
//
//   const yunti::Table users("users.ytab");
//   const size_t name = users.column("name"), score = users.column("score");
//   if (const yunti::TableRow row = users.find(4711)) use(row.text(name), row.get<float>(score));
//
// The headers need nothing else of Yunti: any C++17 program for Linux may include <yunti/table.hpp>. In a class of a
// job, context.table("users") is the table of `--table users=users.ytab`.
//
// A Table may be used by any number of threads. Texts and rows are views of the mapping, valid as long as the Table.
// Errors are yunti::Error: a file that is none or damaged, a column or key of another type. A damaged file never gives
// a wrong value, and no file makes a program read outside of it. One limit: a file that is cut or written to while it
// is mapped may end the process by SIGBUS. Replace a table by rename(2), as `yunti table build` does.
//
//   table.hpp                    lookups, ranges, walks
//   table/rows.hpp  key.hpp      slots and walks over rows; bytes and order of keys
//   table/value.hpp schema.hpp   rows and values; columns
//   table/header.hpp file.hpp    the format's numbers; the mapping and its checks
//   table/index.hpp              the way from a key to its row
//   table/hash.hpp checksum.hpp  hash of keys, CRC-32C
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "table/hash.hpp"
#include "table/rows.hpp"

namespace yunti {

// A row, or a record.
using TableRow = table::Row;
// Rows of a key, of a range or of the whole table.
using TableRows = table::Rows;
// A list.
using TableList = table::List;
// A value of any type.
using TableValue = table::Value;

// An open table.
class Table {
 public:
  // Maps a table, and checks its header and its schema. Throws Error.
  explicit Table(const std::string& path, const TableOptions& options = {})
      : store_(path, options), options_(options), key_(&store_.keys[0]), has_one_column_(store_.keys.size() == 1) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Returns the number of keys, and of rows: more if a key may have several.
  uint64_t size() const { return store_.header.keys; }
  uint64_t row_count() const { return store_.header.rows; }
  bool is_ordered() const { return store_.header.is_ordered; }
  bool has_lists() const { return store_.header.is_multi; }
  const std::string& path() const { return store_.file.path(); }
  uint64_t file_bytes() const { return store_.file.size(); }

  const std::vector<table::Column>& columns() const { return store_.schema.row.columns; }
  // Returns the numbers of the key's columns, in the order of the key.
  const std::vector<uint32_t>& key_columns() const { return store_.schema.keys; }
  // Returns the number of a column. Throws Error if there is none with this name.
  size_t column(std::string_view name) const {
    for (size_t i = 0; i < columns().size(); ++i)
      if (columns()[i].name == name) return i;
    throw Error("the table has no column " + std::string(name) + ": " + path());
  }

  // Looks up a key; the first row if it has several. Throws Error if the table's key has another type, and for a
  // damaged file.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  YUNTI_INLINE TableRow find(T key) const {
    if (YUNTI_LIKELY(store_.index.is_fast(key))) return store_.index.find(static_cast<uint64_t>(key), fields());
    if (YUNTI_LIKELY(store_.index.is_fast_in_groups(key)))
      return store_.index.find_in_groups(static_cast<uint64_t>(key), fields());
    return find_any(key);
  }
  YUNTI_INLINE TableRow find(std::string_view key) const {
    return YUNTI_LIKELY(store_.index.is_fast(key)) ? store_.index.find(key, fields()) : find_any(key);
  }
  TableRow find(const TableKey& key) const { return first(slot_of(key)); }

  // Looks up all rows of a key.
  template <class Key>
  TableRows find_all(const Key& key) const { return {&store_, 0, 0, false, slot_of(key)}; }

  template <class Key>
  bool contains(const Key& key) const { return static_cast<bool>(find(key)); }

  // Looks up many keys at once, which lets memory answer while others are hashed: out[i] is the first row of keys[i],
  // or none. Returns the number of keys that were found.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  size_t find_batch(const T* keys, size_t count, TableRow* out) const {
    need_integer();
    return look_up(
        keys, count, out, [&](T key) { return store_.index.hash_of(static_cast<uint64_t>(key)); },
        [&](std::string_view row, T key) { return is_possible(key) && has(row, static_cast<uint64_t>(key)); });
  }
  size_t find_batch(const std::string_view* keys, size_t count, TableRow* out) const {
    need_text();
    return look_up(
        keys, count, out, [&](std::string_view key) { return store_.index.hash_of(key); },
        [&](std::string_view row, std::string_view key) { return has(row, key); });
  }

  // Walks over all rows, in the order of the file.
  TableRows rows() const { return {&store_, 0, store_.header.all_slots(), false}; }

  // Walks over rows in the order of keys, from the key `from` to before `to`. An empty key is an open end, and one of
  // the first columns stands before all keys that continue it. Throws Error if the table was built without an order.
  TableRows range(const TableKey& from, const TableKey& to) const {
    const uint64_t begin = from.empty() ? 0 : position(from, false, false);
    const uint64_t end = to.empty() ? size() : position(to, false, false);
    need_order();
    return {&store_, std::min(begin, end), end, true};
  }
  template <class T>
  TableRows range(const T& from, const T& to) const { return range(TableKey().add(from), TableKey().add(to)); }

  // Walks over the rows whose keys begin with this one: equal in its columns, except that a text as its last one may
  // continue.
  TableRows prefix(const TableKey& key) const {
    if (key.empty()) return range(key, key);
    const uint64_t begin = position(key, true, false);
    return {&store_, begin, std::max(begin, position(key, true, true)), true};
  }
  TableRows prefix(std::string_view key) const { return prefix(TableKey().add(key)); }

  // Returns the table that is at the path now; null if it is this one still. Services call it now and then, and keep
  // the old one while rows of it are in use.
  std::unique_ptr<Table> reopen() const {
    return store_.file.is_replaced() ? std::make_unique<Table>(path(), options_) : nullptr;
  }

  // Checks every byte: checksums, values, that each key is found, and the order. Throws Error.
  void verify() const {
    store_.file.verify();
    uint64_t keys = 0, rows = 0;
    TableKey key;
    for (uint64_t slot = 0; slot < store_.header.all_slots(); ++slot) {
      std::string_view bytes = store_.used_bytes_of(slot);
      if (bytes.empty()) continue;
      ++keys;
      const char* place = bytes.data();
      store_.keys.build(first_row(bytes), key);
      if (slot_of(key).data() != place) table::damaged("a key is not found: " + path());
      while (!bytes.empty()) {
        const std::string_view row = store_.take(bytes);
        if (!store_.keys.matches(row, key.bytes())) table::damaged("a slot has rows of two keys: " + path());
        check(store_.schema.row, row);
        ++rows;
      }
    }
    if (keys != size() || rows != row_count()) table::damaged("it has not as many rows as it says: " + path());
    if (is_ordered()) verify_order();
  }

 private:
  static constexpr size_t batch = 64;

  const table::Fields& fields() const { return store_.schema.row; }
  std::string_view first_row(std::string_view bytes) const { return store_.take(bytes); }

  TableRow first(std::string_view bytes) const {
    return bytes.empty() ? TableRow() : TableRow(&store_.schema.row, store_.take(bytes));
  }

  void need_integer() const {
    if (YUNTI_UNLIKELY(!has_one_column_ || !table::is_integer(key_->type))) store_.keys.wrong();
  }
  void need_text() const {
    if (YUNTI_UNLIKELY(!has_one_column_ || !table::is_text(key_->type))) store_.keys.wrong();
  }
  void need_order() const {
    if (!is_ordered()) throw Error("the table has no order of keys: build it with --sorted: " + path());
  }

  template <class T>
  YUNTI_INLINE bool is_possible(T key) const {
    return table::KeyColumns::can_have(*key_, static_cast<uint64_t>(key), std::is_signed_v<T> && key < T{0});
  }

  // Looks up a key in a table of any shape, and checks the blocks of the file that were not used before.
  template <class Key>
  __attribute__((noinline)) TableRow find_any(Key key) const {
    const TableRow row = first(slot_of(key));
    if (store_.file.is_ready()) store_.index.begin_fast();
    return row;
  }

  // Returns the bytes of the slot of a hash.
  YUNTI_INLINE std::string_view probe(uint64_t hash) const {
    if (YUNTI_UNLIKELY(store_.header.parts == 0)) return {};
    return store_.bytes_of(store_.slot_of(hash));
  }

  YUNTI_INLINE bool has(std::string_view row, uint64_t key) const {
    if (YUNTI_UNLIKELY(row.size() < key_->at + key_->width)) table::damaged("a row is cut");
    return table::detail::integer_of(key_->type, row.data() + key_->at) == key;
  }
  YUNTI_INLINE bool has(std::string_view row, std::string_view key) const {
    return table::detail::other_value(store_.schema.row, row, key_->at) == key;
  }

  // Returns the bytes of the slot that has a key; empty if none has it.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  YUNTI_INLINE std::string_view slot_of(T key) const {
    need_integer();
    const uint64_t bits = static_cast<uint64_t>(key);
    const std::string_view bytes = probe(store_.index.hash_of(bits));
    return !bytes.empty() && has(first_row(bytes), bits) && is_possible(key) ? bytes : std::string_view();
  }
  std::string_view slot_of(std::string_view key) const {
    need_text();
    const std::string_view bytes = probe(store_.index.hash_of(key));
    return !bytes.empty() && has(first_row(bytes), key) ? bytes : std::string_view();
  }
  std::string_view slot_of(const char* key) const { return slot_of(std::string_view(key)); }
  std::string_view slot_of(const std::string& key) const { return slot_of(std::string_view(key)); }
  std::string_view slot_of(const TableKey& key) const {
    if (!store_.keys.check(key, true)) return {};
    const std::string_view bytes = probe(store_.index.hash_of(key.bytes()));
    return !bytes.empty() && store_.keys.matches(first_row(bytes), key.bytes()) ? bytes : std::string_view();
  }

  // Looks up keys in steps, each of which asks memory for what the next one reads: pilots; rows, or groups and then
  // rows.
  template <class Key, class Hash, class Has>
  size_t look_up(const Key* keys, size_t count, TableRow* out, Hash hash_of, Has has_key) const {
    size_t found = 0;
    for (size_t done = 0; done < count; done += batch) {
      const size_t n = std::min(batch, count - done);
      std::string_view slots[batch];
      find_slots(keys + done, n, slots, hash_of);
      for (size_t i = 0; i < n; ++i) {
        std::string_view bytes = slots[i];
        const bool is_there = !bytes.empty() && has_key(first_row(bytes), keys[done + i]);
        out[done + i] = is_there ? first(bytes) : TableRow();
        found += is_there;
      }
    }
    return found;
  }

  template <class Key, class Hash>
  YUNTI_INLINE void find_slots(const Key* keys, size_t n, std::string_view* out, Hash hash_of) const {
    const table::File& file = store_.file;
    const table::Header& header = store_.header;
    const table::Index& index = store_.index;
    if (header.parts == 0) return;
    uint64_t hashes[batch], at[batch];
    for (size_t i = 0; i < n; ++i) {
      hashes[i] = hash_of(keys[i]);
      at[i] = index.bucket_of(hashes[i]);
      __builtin_prefetch(file.at(header.pilots.begin + at[i]));
    }
    const bool is_grouped = header.is_grouped();
    const uint64_t piece = is_grouped ? header.group_bytes() : header.row_bytes;
    for (size_t i = 0; i < n; ++i) {
      const char* pilot = file.use_in_lookup(header.pilots.begin + at[i], 1);
      at[i] = index.slot_of(hashes[i], at[i], static_cast<uint8_t>(*pilot));
      const char* next = is_grouped ? index.group_of(at[i]) : file.at(header.row_data.begin + at[i] * piece);
      __builtin_prefetch(next);
      __builtin_prefetch(next + piece - 1);
    }
    if (is_grouped) {
      // A group that was not checked yet leads at worst to a useless prefetch: bytes_of checks it.
      for (size_t i = 0; i < n; ++i) {
        const table::SlotPlace place = index.place_of(at[i]);
        const uint64_t base = header.row_data.begin + place.base;
        __builtin_prefetch(file.at(base + place.begin));
        // Most rows have two cache lines at most.
        __builtin_prefetch(file.at(base + place.end) - 1);
      }
    }
    for (size_t i = 0; i < n; ++i) out[i] = store_.bytes_of(at[i]);
  }

  // Returns the first position in the order of keys whose key is not before a bound; with `after`, not before it nor
  // equal in its columns.
  uint64_t position(const TableKey& bound, bool by_prefix, bool after) const {
    need_order();
    if (!store_.keys.check(bound, false)) throw Error("a bound is outside of the column's type: " + path());
    const std::vector<table::KeyPart> parts = store_.keys.parts(bound);
    const uint64_t low = store_.keys.begin(parts[0], 0);
    const uint64_t high = store_.keys.begin(parts[0], by_prefix && parts.size() == 1 ? 0xff : 0);
    const auto fence = [&](uint64_t block) {
      return yunti::detail::load<uint64_t>(store_.file.use(store_.header.fences.begin + 8 * block, 8));
    };
    constexpr uint64_t each = table::Header::fence;
    const uint64_t blocks = store_.header.fences.bytes / 8;
    // Blocks before `first` begin before the bound, the ones from `last` on behind it.
    const uint64_t first = partition(0, blocks, [&](uint64_t block) { return fence(block) < low; });
    const uint64_t last = partition(first, blocks, [&](uint64_t block) { return fence(block) <= high; });
    return partition(first == 0 ? 0 : (first - 1) * each + 1, std::min(last * each, size()), [&](uint64_t at) {
      const int order = store_.keys.compare(store_.row_at(at), parts, by_prefix);
      return order < 0 || (after && order == 0);
    });
  }

  // Returns the first number from `begin` to before `end` for which this is false; it is true before and false behind.
  template <class Is>
  static uint64_t partition(uint64_t begin, uint64_t end, Is is_before) {
    while (begin < end) {
      const uint64_t middle = begin + (end - begin) / 2;
      if (is_before(middle)) begin = middle + 1;
      else end = middle;
    }
    return begin;
  }

  // Checks the values of a row.
  static void check(const table::Fields& fields, std::string_view bytes) {
    const TableRow row(&fields, bytes);
    for (size_t i = 0; i < fields.columns.size(); ++i) check(row.value(i));
  }
  static void check(const TableValue& value) {
    if (value.is_null()) return;
    if (value.type() == table::ColumnType::Dict) value.text();
    if (value.type() == table::ColumnType::Record) check_record(value.record());
    if (value.type() == table::ColumnType::List)
      for (const TableValue& element : value.list()) check(element);
  }
  static void check_record(const TableRow& row) {
    for (size_t i = 0; i < row.columns().size(); ++i) check(row.value(i));
  }

  void verify_order() const {
    TableKey before;
    for (uint64_t at = 0; at < size(); ++at) {
      const std::string_view row = store_.row_at(at);
      if (at > 0 && store_.keys.compare(row, store_.keys.parts(before), false) <= 0)
        table::damaged("its keys are not in order: " + path());
      if (at % table::Header::fence == 0) {
        const char* fence = store_.file.use(store_.header.fences.begin + at / table::Header::fence * 8, 8);
        if (yunti::detail::load<uint64_t>(fence) != store_.keys.begin(store_.keys.part(row, 0), 0))
          table::damaged("a fence is not the begin of its key: " + path());
      }
      store_.keys.build(row, before);
    }
  }

  table::Store store_;
  TableOptions options_;
  const table::Column* key_;
  bool has_one_column_;
};

}  // namespace yunti
