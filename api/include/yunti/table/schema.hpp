// Columns of a table: their types, and where their values are in a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "header.hpp"

namespace yunti {
namespace table {

// Type of a column, by its number in the file.
enum class ColumnType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, Utf8, Bytes, Dict, Record, List };

// Returns the name of a type, as `yunti table build` takes it.
inline const char* name_of(ColumnType type) {
  static constexpr const char* names[] = {"bool", "i8",  "i16", "i32",  "i64",   "u8",   "u16",    "u32",
                                          "u64",  "f32", "f64", "utf8", "bytes", "dict", "record", "list"};
  return names[static_cast<int>(type)];
}

// Returns the bytes of a value in a row; 0 for any number of bytes.
inline size_t width_of(ColumnType type) {
  static constexpr uint8_t widths[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0, 0, 4, 0, 0};
  return widths[static_cast<int>(type)];
}

// Returns true for integers with a sign.
inline bool is_signed(ColumnType type) { return type >= ColumnType::I8 && type <= ColumnType::I64; }
// Returns true for texts and bytes, whose values have any length.
inline bool is_text(ColumnType type) { return type == ColumnType::Utf8 || type == ColumnType::Bytes; }
// Returns true for integers and bool.
inline bool is_integer(ColumnType type) { return type <= ColumnType::U64; }
// Returns true for types of a key's columns.
inline bool can_be_key(ColumnType type) { return is_integer(type) || is_text(type); }

struct Column;

// Columns of a row, or fields of a record, and the parts of its bytes:
//
//   bits of missing values | values of fixed width | lengths of the others, LEB128 | their bytes
struct Fields {
  std::vector<Column> columns;
  // Bytes before the lengths.
  uint32_t fixed_bytes = 0;
  // Columns without a fixed width.
  uint32_t others = 0;
  // Columns: columns.size() takes a division, which each value would pay.
  uint64_t count = 0;

  // Computes where values are.
  inline void place();
};

// Texts of a `dict` column.
struct Dictionary {
  uint64_t count = 0, ends = 0, texts = 0, bytes = 0;
};

// A column of a table, a field of a record, or the element of a list.
struct Column {
  static constexpr uint32_t never_missing = UINT32_MAX;

  std::string name;
  ColumnType type = ColumnType::Bool;
  bool is_nullable = false;
  // Bytes of a value; 0 for any number.
  uint8_t width = 0;
  // Bit of a missing value.
  uint32_t null_bit = never_missing;
  // Offset of a value of fixed width; number among the others.
  uint32_t at = 0;
  // Offset behind a value of fixed width that is never missing; else more than a row can have.
  uint32_t end_if_always = UINT32_MAX;
  // Fields of a record; the element of a list.
  Fields fields;
  Dictionary dictionary;
  const File* file = nullptr;

  const Column& element() const { return fields.columns[0]; }
};

// Computes where values are.
inline void Fields::place() {
  uint32_t bits = 0;
  for (Column& column : columns)
    if (column.is_nullable) column.null_bit = bits++;
  fixed_bytes = (bits + 7) / 8;
  others = 0;
  count = columns.size();
  for (Column& column : columns) {
    column.at = column.width != 0 ? fixed_bytes : others++;
    fixed_bytes += column.width;
    if (column.width != 0 && !column.is_nullable) column.end_if_always = fixed_bytes;
  }
}

namespace detail {

// Bytes of columns, read one behind the other. Throws Error for bytes that are none.
struct SchemaReader {
  static constexpr int depth_max = 16;

  const char* p;
  uint64_t left;
  // False for columns of a server: they have no dictionary to read from.
  bool has_dictionaries = true;
  // Most columns, of all depths. A column takes 4 bytes here and about 40 times as many in memory.
  uint64_t columns_max = UINT64_MAX;

  const char* take(uint64_t n) {
    if (n > left) damaged("its schema is cut");
    left -= n;
    return (p += n) - n;
  }

  size_t number(int bytes) {
    size_t n = 0;
    std::memcpy(&n, take(static_cast<uint64_t>(bytes)), static_cast<size_t>(bytes));
    return n;
  }

  std::vector<Column> columns(int depth = 0) {
    std::vector<Column> all;
    for (size_t n = number(2); n > 0; --n) all.push_back(column(depth));
    return all;
  }

  // An element of a list has an empty name.
  Column column(int depth) {
    Column column;
    if (columns_max-- == 0) damaged("its schema has too many columns");
    const size_t type = number(1);
    if (type > static_cast<size_t>(ColumnType::List)) damaged("its schema has an unknown type");
    column.type = static_cast<ColumnType>(type);
    column.width = static_cast<uint8_t>(width_of(column.type));
    column.is_nullable = (number(1) & 1) != 0;
    const size_t bytes = number(2);
    column.name.assign(take(bytes), bytes);
    const bool may_be_dict = depth == 0 && has_dictionaries;
    if (depth > depth_max || (column.type == ColumnType::Dict && !may_be_dict))
      damaged("its schema has a column where none can be");
    if (column.type == ColumnType::Record) column.fields.columns = columns(depth + 1);
    if (column.type == ColumnType::List) column.fields.columns.push_back(this->column(depth + 1));
    column.fields.place();
    return column;
  }
};

}  // namespace detail

// Section 0, with the places of section 5.
struct Schema {
  Fields row;
  // Numbers of the key's columns, in the order of the key.
  std::vector<uint32_t> keys;

  Schema(const File& file, const Header& header) {
    detail::SchemaReader reader{file.use(header.schema.begin, header.schema.bytes), header.schema.bytes};
    row.columns = reader.columns();
    for (size_t n = reader.number(2); n > 0; --n) {
      keys.push_back(static_cast<uint32_t>(reader.number(2)));
      const bool is_column = keys.back() < row.columns.size();
      if (!is_column || row.columns[keys.back()].is_nullable || !can_be_key(row.columns[keys.back()].type))
        damaged("its key is none");
    }
    if (keys.empty()) damaged("it has no key");
    row.place();
    if (header.row_bytes != 0 && (row.others != 0 || row.fixed_bytes != header.row_bytes))
      damaged("its schema does not fit its rows");
    if (header.parts != 0 && !header.is_multi && row.others == 0 && header.row_bytes == 0)
      damaged("its schema does not fit its rows");
    uint64_t at = header.dictionaries.begin;
    for (Column& column : row.columns)
      if (column.type == ColumnType::Dict) at = find_dictionary(column, file, header.dictionaries, at);
  }

 private:
  // Returns where the next dictionary begins.
  static uint64_t find_dictionary(Column& column, const File& file, const Place& section, uint64_t begin) {
    begin = (begin + 7) / 8 * 8;
    const uint64_t left = begin <= section.end() ? section.end() - begin : 0;
    if (left < 16) damaged("a dictionary is cut");
    const char* head = file.use(begin, 16);
    Dictionary& of = column.dictionary;
    of.count = yunti::detail::load<uint64_t>(head);
    of.bytes = yunti::detail::load<uint64_t>(head + 8);
    if (of.count > (left - 16) / 4 || of.bytes > left - 16 - 4 * of.count) damaged("a dictionary is cut");
    of.ends = begin + 16;
    of.texts = of.ends + 4 * of.count;
    column.file = &file;
    return of.texts + of.bytes;
  }
};

}  // namespace table
}  // namespace yunti
