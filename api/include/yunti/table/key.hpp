// Keys: their bytes for the hash, and their order (docs/formats/ytab.md, "Lookup" and "Order of keys").
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "value.hpp"

namespace yunti {

// A key of several columns, or the first columns of one as a bound of Table::range or Table::prefix.
//
//   table.find(yunti::TableKey().add(shop).add("2026-11-29"))
class TableKey {
 public:
  // Appends a value: an integer or bool, or a text.
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  TableKey& add(T value) {
    begin_value(std::is_signed_v<T> && value < T{0} ? 'n' : 'i');
    const uint64_t bits = static_cast<uint64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    return *this;
  }
  TableKey& add(std::string_view text) {
    begin_value('t');
    bytes_.append(text);
    return *this;
  }

  void clear() {
    bytes_.clear();
    kinds_.clear();
  }

  // Returns the number of values.
  size_t size() const { return kinds_.size(); }
  bool empty() const { return kinds_.empty(); }
  // Returns the bytes that are hashed.
  std::string_view bytes() const { return bytes_; }
  bool is_text(size_t number) const { return kinds_[number] == 't'; }
  bool is_negative(size_t number) const { return kinds_[number] == 'n'; }

 private:
  // A text that another value follows has its length before it.
  void begin_value(char kind) {
    if (!kinds_.empty() && kinds_.back() == 't') {
      const uint32_t length = static_cast<uint32_t>(bytes_.size() - last_);
      if (bytes_.size() - last_ > UINT32_MAX) throw Error("a text of a key has 4 GiB or more");
      bytes_.insert(last_, reinterpret_cast<const char*>(&length), sizeof length);
    }
    kinds_.push_back(kind);
    last_ = bytes_.size();
  }

  std::string bytes_, kinds_;
  size_t last_ = 0;
};

namespace table {
namespace detail {

// Returns an integer of any width as the 8 bytes of a key.
YUNTI_INLINE uint64_t integer_of(ColumnType type, const char* p) {
  using yunti::detail::load;
  switch (type) {
    case ColumnType::I8: return static_cast<uint64_t>(int64_t{load<int8_t>(p)});
    case ColumnType::I16: return static_cast<uint64_t>(int64_t{load<int16_t>(p)});
    case ColumnType::I32: return static_cast<uint64_t>(int64_t{load<int32_t>(p)});
    case ColumnType::U16: return load<uint16_t>(p);
    case ColumnType::U32: return load<uint32_t>(p);
    case ColumnType::I64:
    case ColumnType::U64: return load<uint64_t>(p);
    default: return load<uint8_t>(p);
  }
}

// Returns an integer as a number whose unsigned order is the order of keys.
YUNTI_INLINE uint64_t ordered(ColumnType type, uint64_t bits) { return is_signed(type) ? bits ^ uint64_t{1} << 63 : bits; }

// Returns the first 8 bytes of a text as a big-endian number, with `filler` where they are fewer.
inline uint64_t begin_of(std::string_view text, uint8_t filler = 0) {
  uint64_t begin = 0;
  for (size_t i = 0; i < 8; ++i) begin = begin << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : filler);
  return begin;
}

}  // namespace detail

// A value of a key: an integer, or a text.
struct KeyPart {
  uint64_t bits = 0;
  std::string_view text;
};

// Columns of a key.
class KeyColumns {
 public:
  // Takes columns of a row by their numbers, in the order of the key.
  KeyColumns(const Fields& row, const std::vector<uint32_t>& numbers) : row_(&row) {
    for (const uint32_t number : numbers) columns_.push_back(&row_->columns[number]);
  }

  size_t size() const { return columns_.size(); }
  const Column& operator[](size_t number) const { return *columns_[number]; }

  // Returns the value of a row in a column of the key.
  YUNTI_INLINE KeyPart part(std::string_view row, size_t number) const {
    const Column& column = *columns_[number];
    if (column.width == 0) return {0, detail::other_value(*row_, row, column.at)};
    if (YUNTI_UNLIKELY(row.size() < column.at + column.width)) damaged("a row is cut");
    return {detail::integer_of(column.type, row.data() + column.at), {}};
  }

  // Returns true if the key of a row has these bytes.
  bool matches(std::string_view row, std::string_view key) const {
    for (size_t i = 0; i < size(); ++i) {
      const KeyPart own = part(row, i);
      if (columns_[i]->width != 0) {
        if (key.size() < 8 || yunti::detail::load<uint64_t>(key.data()) != own.bits) return false;
        key.remove_prefix(8);
        continue;
      }
      if (i + 1 == size()) return key == own.text;
      if (key.size() < 4 || yunti::detail::load<uint32_t>(key.data()) != own.text.size()) return false;
      key.remove_prefix(4);
      if (key.substr(0, own.text.size()) != own.text) return false;
      key.remove_prefix(own.text.size());
    }
    return key.empty();
  }

  // Builds the key of a row.
  void build(std::string_view row, TableKey& key) const {
    key.clear();
    for (size_t i = 0; i < size(); ++i) {
      const KeyPart own = part(row, i);
      if (columns_[i]->width == 0) key.add(own.text);
      else if (is_signed(columns_[i]->type)) key.add(static_cast<int64_t>(own.bits));
      else key.add(own.bits);
    }
  }

  // Returns true if an integer of this sign can be a value of the column.
  static bool can_have(const Column& column, uint64_t bits, bool is_negative) {
    return is_signed(column.type) ? is_negative == (bits >> 63 != 0) : !is_negative;
  }

  // Returns true if the key's integers can be values of its columns: an unsigned column has no negative value.
  // Throws Error if the key has other types, or more values than the table's key. `whole`: not fewer either.
  bool check(const TableKey& key, bool whole) const {
    bool is_possible = true;
    if (key.size() > size() || (whole && key.size() != size())) wrong();
    std::string_view bytes = key.bytes();
    for (size_t i = 0; i < key.size(); ++i) {
      if (key.is_text(i) != is_text(columns_[i]->type)) wrong();
      const KeyPart own = take(bytes, *columns_[i], i + 1 == key.size());
      if (!key.is_text(i)) is_possible &= can_have(*columns_[i], own.bits, key.is_negative(i));
    }
    return is_possible;
  }

  // Returns the parts of a key that was checked.
  std::vector<KeyPart> parts(const TableKey& key) const {
    std::vector<KeyPart> all;
    std::string_view bytes = key.bytes();
    for (size_t i = 0; i < key.size(); ++i) all.push_back(take(bytes, *columns_[i], i + 1 == key.size()));
    return all;
  }

  // Compares the first columns of a row's key with these parts: below 0, 0 or above 0. `by_prefix`: a text that begins
  // with the last part equals it.
  int compare(std::string_view row, const std::vector<KeyPart>& parts, bool by_prefix) const {
    for (size_t i = 0; i < parts.size(); ++i) {
      const KeyPart own = part(row, i);
      if (columns_[i]->width != 0) {
        const ColumnType type = columns_[i]->type;
        const uint64_t a = detail::ordered(type, own.bits), b = detail::ordered(type, parts[i].bits);
        if (a != b) return a < b ? -1 : 1;
      } else {
        const bool cuts = by_prefix && i + 1 == parts.size();
        const int order = own.text.substr(0, cuts ? parts[i].text.size() : own.text.npos).compare(parts[i].text);
        if (order != 0) return order;
      }
    }
    return 0;
  }

  // Returns the begin of keys that have these parts: the least, or the largest for a text that is only a prefix.
  uint64_t begin(const KeyPart& first, uint8_t filler) const {
    const Column& column = *columns_[0];
    return column.width != 0 ? detail::ordered(column.type, first.bits) : detail::begin_of(first.text, filler);
  }

  [[noreturn]] YUNTI_COLD void wrong() const {
    std::string names;
    for (const Column* column : columns_)
      names += (names.empty() ? "" : ", ") + column->name + " (" + name_of(column->type) + ")";
    throw Error("the key of the table is " + names);
  }

 private:
  static KeyPart take(std::string_view& bytes, const Column& column, bool is_last) {
    KeyPart part;
    if (column.width != 0) {
      part.bits = yunti::detail::load<uint64_t>(bytes.data());
      bytes.remove_prefix(8);
      return part;
    }
    size_t length = bytes.size();
    if (!is_last) {
      length = yunti::detail::load<uint32_t>(bytes.data());
      bytes.remove_prefix(4);
    }
    part.text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return part;
  }

  const Fields* row_;
  std::vector<const Column*> columns_;
};

}  // namespace table
}  // namespace yunti
