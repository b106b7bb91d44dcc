// Parts that the C functions of libyunti_table.so share: exceptions become texts, rows become structs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/table.hpp>

// The library shows its C functions alone.
#pragma GCC visibility push(default)
#include <yunti/table.h>
#include <yunti/table/remote.h>
#pragma GCC visibility pop

struct yunti_table_key {
  yunti::TableKey key;
};

inline void report(yunti_table_error* error, const char* text) {
  if (error == nullptr) return;
  std::strncpy(error->text, text, sizeof error->text - 1);
  error->text[sizeof error->text - 1] = '\0';
}

// Returns what the call returns; `failed` and the text of the error if it throws.
template <class F, class R>
R guarded(yunti_table_error* error, R failed, F&& call) noexcept {
  try {
    report(error, "");
    return call();
  } catch (const std::bad_alloc&) {
    report(error, "there is no memory left");
  } catch (const std::exception& e) {
    report(error, e.what());
  }
  return failed;
}

// Returns 1 and the row; 0 if there is none.
inline int give(const yunti::TableRow& row, yunti_table_row* out) {
  *out = {row ? row.fields() : nullptr, row.bytes().data(), row.bytes().size()};
  return row ? 1 : 0;
}

// Returns the table that has taken the place of another; null if there is none, or for an error.
template <class Handle>
Handle* reopened(const Handle* table, yunti_table_error* error) {
  return guarded(error, static_cast<Handle*>(nullptr), [&]() -> Handle* {
    auto next = table->table->reopen();
    return next == nullptr ? nullptr : new Handle{std::move(next)};
  });
}

// Returns the number of a column; -1 if there is none.
template <class Table>
int column_of(const Table& table, const char* name) {
  return guarded(nullptr, -1, [&] { return static_cast<int>(table.column(name)); });
}

template <class Table>
const char* column_name_of(const Table& table, int column) {
  const auto& columns = table.columns();
  return static_cast<size_t>(column) < columns.size() ? columns[static_cast<size_t>(column)].name.c_str() : nullptr;
}

template <class Table>
const char* column_type_of(const Table& table, int column) {
  const auto& columns = table.columns();
  return static_cast<size_t>(column) < columns.size() ? name_of(columns[static_cast<size_t>(column)].type) : nullptr;
}
