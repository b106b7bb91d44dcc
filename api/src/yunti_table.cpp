// libyunti_table.so: the C functions of <yunti/table.h> over the C++ reader. Exceptions end here and become texts.
// SPDX-License-Identifier: Apache-2.0
#include "c_functions.hpp"

struct yunti_table {
  std::unique_ptr<const yunti::Table> table;
};

struct yunti_table_walk {
  yunti::TableRows rows;
  yunti::TableRows::Iterator at;
  bool is_started = false;
};

namespace {

yunti::TableRow row_of(const yunti_table_row* row) {
  return row->fields == nullptr
             ? yunti::TableRow()
             : yunti::TableRow(static_cast<const yunti::table::Fields*>(row->fields), {row->p, row->n});
}

yunti::TableValue value_of(const yunti_table_row* row, int column) {
  return row_of(row).value(static_cast<size_t>(column));
}

yunti::TableValue element_of(const yunti_table_list* list, uint64_t number) {
  if (number >= list->size) throw yunti::Error("the list has no element " + std::to_string(number));
  const auto* element = static_cast<const yunti::table::Column*>(list->element);
  return yunti::TableList(element, {list->p, list->n})[static_cast<uint32_t>(number)];
}

// Reads a number. C++ and C share the rule: the type must hold all values of the column.
template <class T, class Out>
int give_number(const yunti::TableValue& value, Out* out) {
  *out = static_cast<Out>(value.get<T>());
  return value.is_null() ? 0 : 1;
}

int give_text(const yunti::TableValue& value, const char** text, uint64_t* bytes) {
  const std::string_view view = value.text();
  *text = view.data();
  *bytes = view.size();
  return value.is_null() ? 0 : 1;
}

template <class Key>
int get(const yunti_table* table, const Key& key, yunti_table_row* row, yunti_table_error* error) {
  *row = {};
  return guarded(error, -1, [&] { return give(table->table->find(key), row); });
}

// Looks up keys piece by piece, so that rows of C++ need no memory of their own.
template <class Key, class KeyAt>
int64_t get_batch(const yunti_table* table, uint64_t count, yunti_table_row* rows, yunti_table_error* error,
                  KeyAt key_at) {
  return guarded(error, int64_t{-1}, [&] {
    constexpr uint64_t piece = 256;
    Key keys[piece];
    yunti::TableRow found[piece];
    int64_t all = 0;
    for (uint64_t done = 0; done < count; done += piece) {
      const uint64_t n = std::min(piece, count - done);
      for (uint64_t i = 0; i < n; ++i) keys[i] = key_at(done + i);
      all += static_cast<int64_t>(table->table->find_batch(keys, n, found));
      for (uint64_t i = 0; i < n; ++i) give(found[i], &rows[done + i]);
    }
    return all;
  });
}

template <class F>
yunti_table_walk* walk(yunti_table_error* error, F&& rows_of) {
  return guarded(error, static_cast<yunti_table_walk*>(nullptr), [&] {
    const yunti::TableRows rows = rows_of();
    return new yunti_table_walk{rows, rows.end()};
  });
}

template <class F>
int add(yunti_table_error* error, F&& call) {
  return guarded(error, -1, [&] {
    call();
    return 0;
  });
}

const yunti::TableKey open_end;

}  // namespace

yunti_table* yunti_table_open(const char* path, uint32_t options, yunti_table_error* error) {
  return guarded(error, static_cast<yunti_table*>(nullptr), [&] {
    yunti::TableOptions of;
    of.populate = (options & YUNTI_TABLE_POPULATE) != 0;
    of.huge_pages = (options & YUNTI_TABLE_HUGE_PAGES) != 0;
    of.lock = (options & YUNTI_TABLE_LOCK) != 0;
    of.interleave = (options & YUNTI_TABLE_INTERLEAVE) != 0;
    of.trust = (options & YUNTI_TABLE_TRUST) != 0;
    return new yunti_table{std::make_unique<const yunti::Table>(path, of)};
  });
}

void yunti_table_close(yunti_table* table) { delete table; }

yunti_table* yunti_table_reopen(const yunti_table* table, yunti_table_error* error) {
  return reopened(table, error);
}

int yunti_table_verify(const yunti_table* table, yunti_table_error* error) {
  return add(error, [&] { table->table->verify(); });
}

uint64_t yunti_table_size(const yunti_table* table) { return table->table->size(); }
uint64_t yunti_table_row_count(const yunti_table* table) { return table->table->row_count(); }
int yunti_table_column_count(const yunti_table* table) { return static_cast<int>(table->table->columns().size()); }

int yunti_table_column(const yunti_table* table, const char* name) { return column_of(*table->table, name); }
const char* yunti_table_column_name(const yunti_table* table, int column) {
  return column_name_of(*table->table, column);
}
const char* yunti_table_column_type(const yunti_table* table, int column) {
  return column_type_of(*table->table, column);
}

int yunti_table_get_i64(const yunti_table* table, int64_t key, yunti_table_row* row, yunti_table_error* error) {
  return get(table, key, row, error);
}
int yunti_table_get_u64(const yunti_table* table, uint64_t key, yunti_table_row* row, yunti_table_error* error) {
  return get(table, key, row, error);
}
int yunti_table_get_bytes(const yunti_table* table, const void* key, uint64_t bytes, yunti_table_row* row,
                          yunti_table_error* error) {
  return get(table, std::string_view(static_cast<const char*>(key), bytes), row, error);
}
int yunti_table_get_key(const yunti_table* table, const yunti_table_key* key, yunti_table_row* row,
                        yunti_table_error* error) {
  return get(table, key->key, row, error);
}

int64_t yunti_table_get_batch_i64(const yunti_table* table, const int64_t* keys, uint64_t count, yunti_table_row* rows,
                                  yunti_table_error* error) {
  return get_batch<int64_t>(table, count, rows, error, [&](uint64_t i) { return keys[i]; });
}
int64_t yunti_table_get_batch_bytes(const yunti_table* table, const void* const* keys, const uint64_t* bytes,
                                    uint64_t count, yunti_table_row* rows, yunti_table_error* error) {
  return get_batch<std::string_view>(table, count, rows, error, [&](uint64_t i) {
    return std::string_view(static_cast<const char*>(keys[i]), bytes[i]);
  });
}

yunti_table_key* yunti_table_key_new(void) { return new (std::nothrow) yunti_table_key; }
void yunti_table_key_free(yunti_table_key* key) { delete key; }
void yunti_table_key_clear(yunti_table_key* key) { key->key.clear(); }
int yunti_table_key_add_i64(yunti_table_key* key, int64_t value, yunti_table_error* error) {
  return add(error, [&] { key->key.add(value); });
}
int yunti_table_key_add_u64(yunti_table_key* key, uint64_t value, yunti_table_error* error) {
  return add(error, [&] { key->key.add(value); });
}
int yunti_table_key_add_bytes(yunti_table_key* key, const void* value, uint64_t bytes, yunti_table_error* error) {
  return add(error, [&] { key->key.add(std::string_view(static_cast<const char*>(value), bytes)); });
}

yunti_table_walk* yunti_table_rows(const yunti_table* table, yunti_table_error* error) {
  return walk(error, [&] { return table->table->rows(); });
}
yunti_table_walk* yunti_table_rows_of(const yunti_table* table, const yunti_table_key* key, yunti_table_error* error) {
  return walk(error, [&] { return table->table->find_all(key->key); });
}
yunti_table_walk* yunti_table_range(const yunti_table* table, const yunti_table_key* from, const yunti_table_key* to,
                                    yunti_table_error* error) {
  return walk(error, [&] {
    return table->table->range(from == nullptr ? open_end : from->key, to == nullptr ? open_end : to->key);
  });
}
yunti_table_walk* yunti_table_prefix(const yunti_table* table, const yunti_table_key* key, yunti_table_error* error) {
  return walk(error, [&] { return table->table->prefix(key->key); });
}

int yunti_table_next(yunti_table_walk* walk, yunti_table_row* row, yunti_table_error* error) {
  *row = {};
  return guarded(error, -1, [&] {
    if (!walk->is_started) walk->at = walk->rows.begin();
    else if (walk->at != walk->rows.end()) ++walk->at;
    walk->is_started = true;
    return give(*walk->at, row);
  });
}
void yunti_table_walk_free(yunti_table_walk* walk) { delete walk; }

int yunti_table_row_i64(const yunti_table_row* row, int column, int64_t* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<int64_t>(value_of(row, column), value); });
}
int yunti_table_row_u64(const yunti_table_row* row, int column, uint64_t* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<uint64_t>(value_of(row, column), value); });
}
int yunti_table_row_f64(const yunti_table_row* row, int column, double* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<double>(value_of(row, column), value); });
}
int yunti_table_row_bool(const yunti_table_row* row, int column, int* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<bool>(value_of(row, column), value); });
}
int yunti_table_row_text(const yunti_table_row* row, int column, const char** text, uint64_t* bytes,
                         yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_text(value_of(row, column), text, bytes); });
}
int yunti_table_row_record(const yunti_table_row* row, int column, yunti_table_row* record, yunti_table_error* error) {
  *record = {};
  return guarded(error, -1, [&] { return give(value_of(row, column).record(), record); });
}
int yunti_table_row_list(const yunti_table_row* row, int column, yunti_table_list* list, yunti_table_error* error) {
  *list = {};
  return guarded(error, -1, [&] {
    const yunti::TableValue value = value_of(row, column);
    const uint64_t size = value.list().size();
    if (value.is_null()) return 0;
    const auto* fields = static_cast<const yunti::table::Fields*>(row->fields);
    const auto* element = &fields->columns[static_cast<size_t>(column)].element();
    *list = {size, element, value.bytes().data(), value.bytes().size()};
    return 1;
  });
}
int yunti_table_row_column(const yunti_table_row* row, const char* name) {
  const auto* fields = static_cast<const yunti::table::Fields*>(row->fields);
  for (size_t i = 0; fields != nullptr && i < fields->columns.size(); ++i)
    if (fields->columns[i].name == name) return static_cast<int>(i);
  return -1;
}

int yunti_table_list_i64(const yunti_table_list* list, uint64_t number, int64_t* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<int64_t>(element_of(list, number), value); });
}
int yunti_table_list_u64(const yunti_table_list* list, uint64_t number, uint64_t* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<uint64_t>(element_of(list, number), value); });
}
int yunti_table_list_f64(const yunti_table_list* list, uint64_t number, double* value, yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_number<double>(element_of(list, number), value); });
}
int yunti_table_list_text(const yunti_table_list* list, uint64_t number, const char** text, uint64_t* bytes,
                          yunti_table_error* error) {
  return guarded(error, -1, [&] { return give_text(element_of(list, number), text, bytes); });
}
int yunti_table_list_record(const yunti_table_list* list, uint64_t number, yunti_table_row* record,
                            yunti_table_error* error) {
  *record = {};
  return guarded(error, -1, [&] { return give(element_of(list, number).record(), record); });
}
