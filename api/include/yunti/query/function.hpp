// Functions of queries: a value computed from the values of a row.
//
//   struct Cell : yunti::ScalarFunction<int64_t(double, double)> {
//     int64_t call(double latitude, double longitude) { return cell_of(latitude, longitude); }
//   };
//   YUNTI_LIBRARY("Geo", "1.0", yunti::function<Cell>("Geo.cell"))
//
//   $ yunti sql --lib ./libgeo.so "select Geo.cell(lat, lon), count(*) from 'places.parquet' group by 1"
//
// A row with a null argument gives null and is not passed, unless the signature says std::optional<T> for an argument;
// a result may be std::optional<T> too. Equal arguments must give equal results: the engine computes a result once for
// many rows, and for values that no row has. An exception ends the query with its text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "column.hpp"

namespace yunti {

// Base of a function: its signature, as of a C++ function. column.hpp lists the types.
template <class Signature>
struct ScalarFunction;

namespace detail {

template <class F, class Signature>
struct FunctionEntry;

template <class F, class R, class... A>
struct YUNTI_HIDDEN FunctionEntry<F, R(A...)> {
  static yt_status call(void* self, const yt_column* columns, uint32_t rows, yt_result* result) noexcept {
    auto& instance = Instance<F>::of(self);
    return guard(instance.context, [&] {
      F& function = instance.object;
      const Arguments<A...> arguments(columns);
      ResultWriter<R> out(result, rows);
      for (uint32_t row = 0; row < rows; ++row) {
        const bool is_called =
            arguments.call(row, [&](const auto&... values) { out.put(row, function.call(values...)); });
        if (!is_called) out.put_null(row);
      }
      out.finish();
    });
  }

  static constexpr yt_function table = {sizeof(yt_function), ArgumentTypes<A...>::sees_nulls ? YT_SEES_NULLS : 0u,
                                        sizeof...(A), Value<R>::id, ArgumentTypes<A...>::ids, call};
};

}  // namespace detail

template <class R, class... A>
struct ScalarFunction<R(A...)> {
  static_assert(detail::check_types<R, A...>());
  template <class F>
  using Entry = detail::FunctionEntry<F, R(A...)>;
};

// Returns the table entry of a function; name: "Library.name".
template <class F>
constexpr yt_class function(const char* name) {
  yt_class c = detail::class_entry<F>(YT_FUNCTION, name);
  c.function = &F::template Entry<F>::table;
  return c;
}

}  // namespace yunti
