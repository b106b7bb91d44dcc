// libyunti_table.so: the C functions of <yunti/table/remote.h> over yunti::RemoteTable.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/table/remote.hpp>

#include "c_functions.hpp"

struct yunti_remote_table {
  std::unique_ptr<const yunti::RemoteTable> table;
};

struct yunti_remote_rows {
  // Rows of a batch or of one key; rows of yunti_remote_get_all, and the next of them.
  std::vector<yunti::RemoteRow> found;
  yunti::RemoteRows all;
  yunti::RemoteRows::Iterator at = all.end();
};

namespace {

std::vector<std::string> parts_of(const char* text) {
  std::vector<std::string> parts;
  for (const char* end = text; text != nullptr && *text != '\0'; text = *end == ',' ? end + 1 : end) {
    end = text + std::strcspn(text, ",");
    parts.emplace_back(text, end);
  }
  return parts;
}

yunti::RemoteTableOptions options_of(const yunti_remote_options* given) {
  yunti::RemoteTableOptions options;
  if (given == nullptr) return options;
  if (given->size != sizeof *given) throw yunti::Error("set size of yunti_remote_options to its sizeof");
  if (given->token != nullptr) options.token = given->token;
  options.columns = parts_of(given->columns);
  if (given->connect_timeout_ms != 0) options.connect_timeout = std::chrono::milliseconds(given->connect_timeout_ms);
  if (given->timeout_ms != 0) options.timeout = std::chrono::milliseconds(given->timeout_ms);
  return options;
}

template <class Key>
int64_t get_batch(const yunti_remote_table* table, const Key* keys, uint64_t count, yunti_remote_rows* rows,
                  yunti_table_row* out, yunti_table_error* error) {
  return guarded(error, int64_t{-1}, [&] {
    *rows = {};
    rows->found.resize(count);
    const size_t found = table->table->find_batch(keys, count, rows->found.data());
    for (uint64_t i = 0; i < count; ++i) give(rows->found[i], &out[i]);
    return static_cast<int64_t>(found);
  });
}

template <class Key>
int get(const yunti_remote_table* table, const Key& key, yunti_remote_rows* rows, yunti_table_row* row,
        yunti_table_error* error) {
  *row = {};
  return static_cast<int>(get_batch(table, &key, 1, rows, row, error));
}

}  // namespace

yunti_remote_table* yunti_remote_open(const char* name, const char* addresses, const yunti_remote_options* options,
                                      yunti_table_error* error) {
  return guarded(error, static_cast<yunti_remote_table*>(nullptr), [&] {
    const auto named = name == nullptr ? std::nullopt : std::optional<std::string>(name);
    auto table = std::make_unique<const yunti::RemoteTable>(named, parts_of(addresses), options_of(options));
    return new yunti_remote_table{std::move(table)};
  });
}

void yunti_remote_close(yunti_remote_table* table) { delete table; }

yunti_remote_table* yunti_remote_reopen(const yunti_remote_table* table, yunti_table_error* error) {
  return reopened(table, error);
}

int yunti_remote_column_count(const yunti_remote_table* table) { return static_cast<int>(table->table->columns().size()); }
int yunti_remote_column(const yunti_remote_table* table, const char* name) { return column_of(*table->table, name); }
const char* yunti_remote_column_name(const yunti_remote_table* table, int column) {
  return column_name_of(*table->table, column);
}
const char* yunti_remote_column_type(const yunti_remote_table* table, int column) {
  return column_type_of(*table->table, column);
}

int yunti_remote_server_count(const yunti_remote_table* table) {
  return static_cast<int>(table->table->addresses().size());
}
const char* yunti_remote_server_address(const yunti_remote_table* table, int server) {
  const bool is_there = server >= 0 && server < yunti_remote_server_count(table);
  return is_there ? table->table->addresses()[static_cast<size_t>(server)].c_str() : nullptr;
}
int yunti_remote_counters(const yunti_remote_table* table, int server, yunti_remote_take_counter take, void* context,
                          yunti_table_error* error) {
  return guarded(error, -1, [&] {
    if (yunti_remote_server_address(table, server) == nullptr)
      throw yunti::Error("the table has no server " + std::to_string(server) + ": they are numbered from 0");
    const std::map<std::string, double> counters = table->table->counters_of(static_cast<size_t>(server));
    for (const auto& [name, value] : counters) take(context, name.c_str(), value);
    return static_cast<int>(counters.size());
  });
}

yunti_remote_rows* yunti_remote_rows_new(void) { return new (std::nothrow) yunti_remote_rows; }
void yunti_remote_rows_free(yunti_remote_rows* rows) { delete rows; }

int yunti_remote_get_i64(const yunti_remote_table* table, int64_t key, yunti_remote_rows* rows, yunti_table_row* row,
                         yunti_table_error* error) {
  return get(table, key, rows, row, error);
}
int yunti_remote_get_u64(const yunti_remote_table* table, uint64_t key, yunti_remote_rows* rows, yunti_table_row* row,
                         yunti_table_error* error) {
  return get(table, key, rows, row, error);
}
int yunti_remote_get_bytes(const yunti_remote_table* table, const void* key, uint64_t bytes, yunti_remote_rows* rows,
                           yunti_table_row* row, yunti_table_error* error) {
  return get(table, std::string_view(static_cast<const char*>(key), bytes), rows, row, error);
}
int yunti_remote_get_key(const yunti_remote_table* table, const yunti_table_key* key, yunti_remote_rows* rows,
                         yunti_table_row* row, yunti_table_error* error) {
  return get(table, key->key, rows, row, error);
}

int64_t yunti_remote_get_batch_i64(const yunti_remote_table* table, const int64_t* keys, uint64_t count,
                                   yunti_remote_rows* rows, yunti_table_row* out, yunti_table_error* error) {
  return get_batch(table, keys, count, rows, out, error);
}
int64_t yunti_remote_get_batch_bytes(const yunti_remote_table* table, const void* const* keys, const uint64_t* bytes,
                                     uint64_t count, yunti_remote_rows* rows, yunti_table_row* out,
                                     yunti_table_error* error) {
  std::vector<std::string_view> texts;
  const int is_filled = guarded(error, -1, [&] {
    for (uint64_t i = 0; i < count; ++i) texts.emplace_back(static_cast<const char*>(keys[i]), bytes[i]);
    return 0;
  });
  return is_filled != 0 ? -1 : get_batch(table, texts.data(), count, rows, out, error);
}

int64_t yunti_remote_get_all(const yunti_remote_table* table, const yunti_table_key* key, yunti_remote_rows* rows,
                             yunti_table_error* error) {
  return guarded(error, int64_t{-1}, [&] {
    *rows = {};
    rows->all = table->table->find_all(key->key);
    rows->at = rows->all.begin();
    return static_cast<int64_t>(rows->all.size());
  });
}

int yunti_remote_next(yunti_remote_rows* rows, yunti_table_row* row) {
  const int is_row = give(*rows->at, row);
  if (is_row != 0) ++rows->at;
  return is_row;
}
