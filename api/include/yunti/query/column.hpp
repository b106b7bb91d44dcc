// Columns of queries: C++ types of arguments and results, and their places in a column.
//
//   C++ type in a signature     SQL type    in user code
//   bool                        boolean     bool
//   int32_t, int64_t            int, bigint the number
//   double                      double      the number
//   std::string_view            varchar     std::string_view, valid until the call returns; as a result it is copied
//   std::string                 varchar     only as a result
//   yunti::Bytes                bytea       std::string_view; as a result std::string
//   yunti::Date                 date        days since 1970-01-01
//   yunti::Timestamp            timestamp   microseconds since 1970-01-01
//   std::optional<T>            T or null   the value, or nothing
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "../context.hpp"

namespace yunti {

// A day of the calendar.
struct Date {
  int32_t days;
};

// A moment, without a zone.
struct Timestamp {
  int64_t micros;
};

namespace detail {

// Place of a T in columns. Stored: element of yt_column.values; View and Given: argument and result of user code.
template <class T>
struct Value;

template <class T, yt_value_type Id, class StoredType = T>
struct PlainValue {
  using View = T;
  using Given = T;
  using Stored = StoredType;
  static constexpr yt_value_type id = Id;
  static constexpr bool is_string = false, is_optional = false;
  static T get(Stored v) { return static_cast<T>(v); }
  static Stored put(T v) { return static_cast<Stored>(v); }
};

template <> struct Value<bool> : PlainValue<bool, YT_VALUE_BOOL, uint8_t> {
  static bool get(uint8_t v) { return v != 0; }
};
template <> struct Value<int32_t> : PlainValue<int32_t, YT_VALUE_I32, int64_t> {};
template <> struct Value<int64_t> : PlainValue<int64_t, YT_VALUE_I64> {};
template <> struct Value<double> : PlainValue<double, YT_VALUE_F64> {};
template <> struct Value<Date> : PlainValue<Date, YT_VALUE_DATE, int64_t> {
  static Date get(int64_t v) { return {static_cast<int32_t>(v)}; }
  static int64_t put(Date v) { return v.days; }
};
template <> struct Value<Timestamp> : PlainValue<Timestamp, YT_VALUE_TIMESTAMP, int64_t> {
  static Timestamp get(int64_t v) { return {v}; }
  static int64_t put(Timestamp v) { return v.micros; }
};

template <class GivenType, yt_value_type Id>
struct StringValue {
  using View = std::string_view;
  using Given = GivenType;
  static constexpr yt_value_type id = Id;
  static constexpr bool is_string = true, is_optional = false;
};

template <> struct Value<std::string_view> : StringValue<std::string_view, YT_VALUE_TEXT> {};
template <> struct Value<std::string> : StringValue<std::string, YT_VALUE_TEXT> {};
template <> struct Value<Bytes> : StringValue<std::string, YT_VALUE_BYTES> {};

template <class T>
struct Value<std::optional<T>> : Value<T> {
  using View = std::optional<typename Value<T>::View>;
  using Given = std::optional<typename Value<T>::Given>;
  static constexpr bool is_optional = true;
};

template <class T, class = void> inline constexpr bool is_value = false;
template <class T> inline constexpr bool is_value<T, std::void_t<decltype(sizeof(Value<T>))>> = true;

// True for the signature of a function or an aggregate; else the compiler says why.
template <class R, class... A>
constexpr bool check_types() {
  static_assert(is_value<R> && (is_value<A> && ...),
                "not a type of queries: use bool, int32_t, int64_t, double, std::string_view, std::string as a result, "
                "yunti::Bytes, yunti::Date or yunti::Timestamp, also in std::optional");
  return true;
}

template <class T> struct Required { using Type = T; };
template <class T> struct Required<std::optional<T>> { using Type = T; };

// Values of an argument.
template <class T>
class ColumnReader {
  using Plain = typename Required<T>::Type;

 public:
  explicit ColumnReader(const yt_column& column) : column_(column) {}

  bool is_null(uint32_t row) const { return column_.nulls != nullptr && column_.nulls[row] != 0; }

  typename Value<T>::View operator[](uint32_t row) const {
    if constexpr (Value<T>::is_optional) {
      if (is_null(row)) return std::nullopt;
    }
    if constexpr (Value<T>::is_string) {
      const uint32_t k = column_.codes == nullptr ? row : column_.codes[row];
      return view(column_.bytes + column_.offsets[k], column_.offsets[k + 1] - column_.offsets[k]);
    } else {
      return Value<Plain>::get(static_cast<const typename Value<Plain>::Stored*>(column_.values)[row]);
    }
  }

 private:
  const yt_column& column_;
};

// Results of a call.
template <class T>
class ResultWriter {
  using Plain = typename Required<T>::Type;

 public:
  explicit ResultWriter(yt_result* result, uint32_t rows) : result_(result) {
    if constexpr (Value<T>::is_string) ends_.reserve(rows);
  }

  void put(uint32_t row, const typename Value<T>::Given& value) {
    if constexpr (Value<T>::is_string) {
      if (bytes_.size() > kHeldBytes) finish();
    }
    if constexpr (Value<T>::is_optional) {
      if (value.has_value()) {
        set(row, *value);
      } else {
        put_null(row);
      }
    } else {
      set(row, value);
    }
  }

  void put_null(uint32_t row) {
    result_->nulls[row] = 1;
    if constexpr (Value<T>::is_string) ends_.push_back(bytes_.size());
  }

  // Hands over the strings that it holds. The engine refuses strings for which the query has no memory.
  void finish() {
    if constexpr (Value<T>::is_string) {
      std::vector<yt_str> strings;
      strings.reserve(ends_.size());
      size_t begin = 0;
      for (const size_t end : ends_) {
        strings.push_back(str(std::string_view(bytes_).substr(begin, end - begin)));
        begin = end;
      }
      const yt_status status =
          result_->append(result_->engine, strings.data(), static_cast<uint32_t>(strings.size()));
      if (status != YT_OK) throw Stopped{status};
      bytes_.clear();
      ends_.clear();
    }
  }

 private:
  // Bytes of strings that are held back, about: one call hands over many.
  static constexpr size_t kHeldBytes = 1 << 20;

  template <class G>
  void set(uint32_t row, const G& value) {
    if constexpr (Value<T>::is_string) {
      bytes_.append(value.data(), value.size());
      ends_.push_back(bytes_.size());
    } else {
      static_cast<typename Value<Plain>::Stored*>(result_->values)[row] = Value<Plain>::put(value);
    }
  }

  yt_result* result_;
  std::string bytes_;
  std::vector<size_t> ends_;
};

// Types of arguments, for the table of a class.
template <class... A>
struct ArgumentTypes {
  static_assert(sizeof...(A) <= YT_ARGUMENTS_MAX, "a function of a query has at most 64 arguments");
  static constexpr yt_value_type ids[sizeof...(A) + 1] = {Value<A>::id..., 0};
  static constexpr bool sees_nulls = (Value<A>::is_optional || ...);
};

// Columns of all arguments.
template <class... A>
class Arguments {
 public:
  explicit Arguments(const yt_column* columns) : Arguments(columns, std::index_sequence_for<A...>{}) {}

  // Calls f with the arguments of a row; false if one of them is null that must not be.
  template <class F>
  bool call(uint32_t row, F&& f) const {
    return call(row, f, std::index_sequence_for<A...>{});
  }

 private:
  template <size_t... I>
  Arguments(const yt_column* columns, std::index_sequence<I...>) : readers_(ColumnReader<A>(columns[I])...) {}

  template <class F, size_t... I>
  bool call(uint32_t row, F& f, std::index_sequence<I...>) const {
    if constexpr (ArgumentTypes<A...>::sees_nulls) {
      if (((!Value<A>::is_optional && std::get<I>(readers_).is_null(row)) || ...)) return false;
    }
    f(std::get<I>(readers_)[row]...);
    return true;
  }

  std::tuple<ColumnReader<A>...> readers_;
};

}  // namespace detail
}  // namespace yunti
