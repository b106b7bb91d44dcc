// Values, lists and rows: views of a table's bytes. Each is a few words, copied freely, and valid as long as its table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <optional>

#include "schema.hpp"

namespace yunti {
namespace table {

class Row;
class List;

namespace detail {

[[noreturn]] YUNTI_COLD inline void row_is_cut() { damaged("a row is cut"); }

// Reads a length (LEB128) and moves `p` behind it.
YUNTI_INLINE uint32_t length_at(const char*& p, const char* end) {
  if (YUNTI_LIKELY(p < end && static_cast<signed char>(*p) >= 0)) return static_cast<uint8_t>(*p++);
  uint64_t length = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (p == end) damaged("a length is cut");
    const uint8_t byte = static_cast<uint8_t>(*p++);
    length |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      if (length > UINT32_MAX) break;
      return static_cast<uint32_t>(length);
    }
  }
  damaged("a length is too large");
}

// Returns a value of any number of bytes: the one with this number among those of the row.
YUNTI_INLINE std::string_view other_value(const Fields& fields, std::string_view row, uint32_t number) {
  if (YUNTI_UNLIKELY(row.size() < fields.fixed_bytes)) row_is_cut();
  const char *p = row.data() + fields.fixed_bytes, *const end = row.data() + row.size();
  uint64_t before = 0, own = 0;
  for (uint32_t i = 0; i < fields.others; ++i) {
    const uint32_t length = length_at(p, end);
    if (i < number) before += length;
    if (i == number) own = length;
  }
  const uint64_t left = static_cast<uint64_t>(end - p);
  if (YUNTI_UNLIKELY(before > left || own > left - before)) row_is_cut();
  return {p + before, own};
}

inline std::string_view text_of(const Column& column, uint32_t number) {
  const Dictionary& of = column.dictionary;
  const File& file = *column.file;
  if (number >= of.count) damaged("a text is not in its dictionary");
  const uint64_t at = of.ends + 4 * uint64_t{number};
  const uint32_t begin = number == 0 ? 0 : yunti::detail::load<uint32_t>(file.use(at - 4, 4));
  const uint32_t end = yunti::detail::load<uint32_t>(file.use(at, 4));
  if (begin > end || end > of.bytes) damaged("a text is not in its dictionary");
  return {file.use(of.texts + begin, end - begin), end - begin};
}

// Returns the type whose values are those of T.
template <class T>
constexpr ColumnType type_of() {
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ColumnType::F32 : ColumnType::F64;
  const ColumnType first = std::is_signed_v<T> ? ColumnType::I8 : ColumnType::U8;
  const int power = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<ColumnType>(static_cast<int>(first) + power);
}

}  // namespace detail

// A value of a row or a list.
class Value {
 public:
  Value(const Column* column, std::string_view bytes, bool is_missing)
      : column_(column), bytes_(bytes), is_missing_(is_missing) {}

  bool is_null() const { return is_missing_; }
  ColumnType type() const { return column_->type; }
  // Returns the bytes as they are in the file.
  std::string_view bytes() const { return bytes_; }

  // Returns a number or bool; 0 if it is missing. Throws Error if T cannot hold all values of the column's type.
  template <class T>
  T get() const {
    static_assert(std::is_arithmetic_v<T>, "a value is a number or bool; texts are read by text()");
    switch (column_->type) {
      case ColumnType::Bool: return convert<T, uint8_t>();
      case ColumnType::I8: return convert<T, int8_t>();
      case ColumnType::I16: return convert<T, int16_t>();
      case ColumnType::I32: return convert<T, int32_t>();
      case ColumnType::I64: return convert<T, int64_t>();
      case ColumnType::U8: return convert<T, uint8_t>();
      case ColumnType::U16: return convert<T, uint16_t>();
      case ColumnType::U32: return convert<T, uint32_t>();
      case ColumnType::U64: return convert<T, uint64_t>();
      case ColumnType::F32: return convert<T, float>();
      case ColumnType::F64: return convert<T, double>();
      default: wrong("a number");
    }
  }

  // Returns a text or bytes, of a dictionary too; empty if it is missing. Throws Error for other types.
  std::string_view text() const {
    if (YUNTI_LIKELY(is_text(column_->type))) return bytes_;
    if (column_->type != ColumnType::Dict) wrong("a text");
    return is_missing_ ? std::string_view() : detail::text_of(*column_, yunti::detail::load<uint32_t>(bytes_.data()));
  }

  // Returns a record as a row of its fields, or a list. Throws Error for other types, and a record that is missing.
  inline Row record() const;
  inline List list() const;

 private:
  template <class T, class Stored>
  YUNTI_INLINE T convert() const {
    using To = std::numeric_limits<T>;
    using From = std::numeric_limits<Stored>;
    const bool is_bool = column_->type == ColumnType::Bool;
    if constexpr (std::is_same_v<T, bool>) {
      if (!is_bool) wrong("bool");
      return !is_missing_ && bytes_[0] != 0;
    } else if constexpr (To::digits >= From::digits && (To::is_signed || !From::is_signed) &&
                         (From::is_integer || !To::is_integer)) {
      return is_missing_ ? T{} : static_cast<T>(yunti::detail::load<Stored>(bytes_.data()));
    } else {
      wrong(std::is_floating_point_v<T> ? "a floating-point number of that size" : "an integer of that size");
    }
  }

  [[noreturn]] YUNTI_COLD void wrong(const char* wanted) const {
    throw Error("the column " + column_->name + " is " + name_of(column_->type) + ", not " + wanted);
  }

  const Column* column_;
  std::string_view bytes_;
  bool is_missing_;
};

// A row of a table, or a record. A default Row is none: false in a condition.
class Row {
 public:
  Row() = default;
  Row(const Fields* fields, std::string_view bytes) : fields_(fields), bytes_(bytes) {}

  explicit operator bool() const { return fields_ != nullptr; }
  std::string_view bytes() const { return bytes_; }
  const Fields* fields() const { return fields_; }
  const std::vector<Column>& columns() const { return fields_->columns; }

  // Returns a value, by the number or the name of its column. A number from Table::column is faster.
  Value value(size_t number) const {
    if (YUNTI_UNLIKELY(!has_column(number))) no_column();
    const Column& column = fields_->columns[number];
    if (column.null_bit != Column::never_missing) {
      if (YUNTI_UNLIKELY(column.null_bit / 8 >= bytes_.size())) detail::row_is_cut();
      if ((bytes_[column.null_bit / 8] >> column.null_bit % 8 & 1) != 0) return {&column, {}, true};
    }
    if (column.width == 0) return {&column, detail::other_value(*fields_, bytes_, column.at), false};
    if (YUNTI_UNLIKELY(bytes_.size() < column.at + column.width)) detail::row_is_cut();
    return {&column, bytes_.substr(column.at, column.width), false};
  }
  Value value(std::string_view name) const { return value(number(name)); }

  // The same, read at once: see Value. `C` is a number or a name.
  template <class T, class C>
  YUNTI_INLINE T get(const C& column) const {
    // The usual case in few instructions: a number of exactly this type, never missing.
    if constexpr (std::is_integral_v<C> && !std::is_same_v<T, bool>) {
      const auto number = static_cast<size_t>(column);
      if (YUNTI_LIKELY(has_column(number))) {
        const Column& of = fields_->columns[number];
        if (YUNTI_LIKELY(of.type == detail::type_of<T>() && of.end_if_always <= bytes_.size()))
          return yunti::detail::load<T>(bytes_.data() + of.at);
      }
    }
    return get_any<T>(fields_, bytes_.data(), bytes_.size(), column);
  }
  template <class C>
  std::string_view text(const C& column) const { return value(column).text(); }
  template <class C>
  bool is_null(const C& column) const { return value(column).is_null(); }
  template <class C>
  Row record(const C& column) const { return value(column).record(); }
  template <class C>
  inline List list(const C& column) const;

 private:
  YUNTI_INLINE bool has_column(size_t number) const { return fields_ != nullptr && number < fields_->count; }
  [[noreturn]] YUNTI_COLD static void no_column() { throw Error("there is no such column"); }

  // A call that takes the parts of a row, so that the caller's one stays in registers.
  template <class T, class C>
  __attribute__((noinline)) static T get_any(const Fields* fields, const char* p, size_t bytes, const C& column) {
    return Row(fields, {p, bytes}).value(column).template get<T>();
  }

  size_t number(std::string_view name) const {
    if (fields_ != nullptr)
      for (size_t i = 0; i < fields_->columns.size(); ++i)
        if (fields_->columns[i].name == name) return i;
    throw Error("there is no column " + std::string(name));
  }

  const Fields* fields_ = nullptr;
  std::string_view bytes_;
};

// Elements of a list. A walk is linear; list[i] reads all lengths before, unless elements have a fixed width.
class List {
 public:
  List() = default;
  List(const Column* element, std::string_view bytes) : element_(element) {
    const char *p = bytes.data(), *const end = p + bytes.size();
    size_ = detail::length_at(p, end);
    bits_ = p;
    const uint64_t left = static_cast<uint64_t>(end - p);
    const uint64_t bits = element->is_nullable ? (uint64_t{size_} + 7) / 8 : 0;
    // An element has a length at the least, so that a hostile count ends here.
    if (bits + uint64_t{size_} * std::max<uint64_t>(element->width, 1) > left) damaged("a list is cut");
    lengths_ = data_ = p + bits;
    end_ = end;
    if (element->width == 0)
      for (uint32_t i = 0; i < size_; ++i) detail::length_at(data_, end);
  }

  class Iterator {
   public:
    Iterator(const List* list, uint32_t at) : list_(list), at_(at), length_(list->lengths_), data_(list->data_) {
      read();
    }
    Value operator*() const {
      const bool is_missing = list_->element_->is_nullable && (list_->bits_[at_ / 8] >> at_ % 8 & 1) != 0;
      return {list_->element_, is_missing ? std::string_view() : std::string_view(data_, bytes_), is_missing};
    }
    Iterator& operator++() {
      ++at_;
      data_ += bytes_;
      read();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void read() {
      if (at_ >= list_->size_) return;
      bytes_ = list_->element_->width;
      if (bytes_ == 0) bytes_ = detail::length_at(length_, list_->end_);
      if (bytes_ > static_cast<uint64_t>(list_->end_ - data_)) damaged("a list is cut");
    }

    const List* list_;
    uint32_t at_;
    const char *length_, *data_;
    uint64_t bytes_ = 0;
  };

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  Value operator[](uint32_t number) const {
    if (number >= size_) throw Error("a list has no element " + std::to_string(number));
    if (const uint32_t width = element_->width; width != 0) {
      const bool is_missing = element_->is_nullable && (bits_[number / 8] >> number % 8 & 1) != 0;
      return {element_, is_missing ? std::string_view() : std::string_view(data_ + uint64_t{number} * width, width),
              is_missing};
    }
    Iterator at = begin();
    for (uint32_t i = 0; i < number; ++i) ++at;
    return *at;
  }

 private:
  const Column* element_ = nullptr;
  const char *bits_ = nullptr, *lengths_ = nullptr, *data_ = nullptr, *end_ = nullptr;
  uint32_t size_ = 0;
};

// Returns a record as a row of its fields.
inline Row Value::record() const {
  if (column_->type != ColumnType::Record) wrong("a record");
  return is_missing_ ? Row() : Row(&column_->fields, bytes_);
}

// Returns a list.
inline List Value::list() const {
  if (column_->type != ColumnType::List) wrong("a list");
  return is_missing_ ? List() : List(&column_->element(), bytes_);
}

template <class C>
List Row::list(const C& column) const { return value(column).list(); }

}  // namespace table
}  // namespace yunti
