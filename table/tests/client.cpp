// Looks up keys at table servers by yunti::RemoteTable, for client_test.py:
//
//   client NAME ADDRESS,.. [TOKEN [AUTHORITIES]]     reads one command a line, and prints one line for it;
//                                                    an empty NAME is the only table
//     get KEY            the rows of a key, as JSON has them, or `none`
//     batch FROM TO      keys that were found, and the sum of their first column of numbers
//     lists              1 if a key may have several rows, else 0
//     counters           for each server, the keys that were looked up there, or the error
//     reopen             `same` or `new`
// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <sstream>
#include <yunti/table/remote.hpp>

using yunti::table::ColumnType;

static std::string text_of(const yunti::TableValue& value);

static std::string text_of(const yunti::TableRow& row) {
  std::string out = "{";
  for (size_t i = 0; i < row.columns().size(); ++i)
    out += (i == 0 ? "\"" : ", \"") + row.columns()[i].name + "\": " + text_of(row.value(i));
  return out + "}";
}

static std::string text_of(const yunti::TableValue& value) {
  if (value.is_null()) return "null";
  switch (value.type()) {
    case ColumnType::Bool: return value.get<bool>() ? "true" : "false";
    case ColumnType::F32:
    case ColumnType::F64: return std::to_string(value.get<double>());
    case ColumnType::U64: return std::to_string(value.get<uint64_t>());
    case ColumnType::Utf8:
    case ColumnType::Bytes: return "\"" + std::string(value.text()) + "\"";
    case ColumnType::Record: return text_of(value.record());
    case ColumnType::List: {
      std::string out;
      for (const yunti::TableValue& element : value.list()) out += (out.empty() ? "" : ", ") + text_of(element);
      return "[" + out + "]";
    }
    default: return std::to_string(value.get<int64_t>());
  }
}

static std::string rows_of(const yunti::RemoteTable& table, const std::string& key) {
  const bool is_text = table.key_columns()[0].type == ColumnType::Utf8;
  const yunti::RemoteRows rows = is_text ? table.find_all(key) : table.find_all(std::stoll(key));
  const yunti::RemoteRow first = is_text ? table.find(key) : table.find(std::stoll(key));
  if (rows.empty() != !first || (first && first.bytes() != rows.begin()->bytes())) return "find and find_all differ";
  std::string out;
  for (const yunti::TableRow& row : rows) out += (out.empty() ? "" : " ") + text_of(row);
  return out.empty() ? "none" : out;
}

static std::string sum_of(const yunti::RemoteTable& table, int64_t from, int64_t to) {
  std::vector<int64_t> keys(static_cast<size_t>(to - from));
  std::iota(keys.begin(), keys.end(), from);
  std::vector<yunti::RemoteRow> rows(keys.size());
  const size_t found = table.find_batch(keys.data(), keys.size(), rows.data());
  int64_t sum = 0;
  const size_t number = table.column("n");
  for (const yunti::RemoteRow& row : rows) sum += row ? row.get<int64_t>(number) : 0;
  return std::to_string(found) + " " + std::to_string(sum);
}

int main(int count, char** arguments) {
  try {
    std::vector<std::string> addresses;
    std::stringstream list(arguments[2]);
    for (std::string address; std::getline(list, address, ',');) addresses.push_back(address);
    yunti::RemoteTableOptions options;
    if (count > 3) options.token = arguments[3];
    if (count > 4) options.tls_ca = arguments[4];
    const auto name = *arguments[1] == '\0' ? std::nullopt : std::optional<std::string>(arguments[1]);
    auto table = std::make_unique<yunti::RemoteTable>(name, addresses, options);
    std::cout << "open " << table->shard_count() << std::endl;
    for (std::string command, key; std::cin >> command;) {
      int64_t from = 0, to = 0;
      if (command == "get" && std::cin >> key) {
        std::cout << rows_of(*table, key) << std::endl;
      } else if (command == "batch" && std::cin >> from >> to) {
        std::cout << sum_of(*table, from, to) << std::endl;
      } else if (command == "lists") {
        std::cout << table->has_lists() << std::endl;
      } else if (command == "counters") {
        for (const yunti::ServerCounters& one : table->server_counters())
          std::cout << (one.error.empty() ? std::to_string(std::llround(one.counters.at("yunti_table_keys_total"))) : one.error)
                    << "; ";
        std::cout << std::endl;
      } else if (std::unique_ptr<yunti::RemoteTable> next = table->reopen()) {
        table = std::move(next);
        std::cout << "new" << std::endl;
      } else {
        std::cout << "same" << std::endl;
      }
    }
  } catch (const yunti::Error& e) {
    std::cout << "error: " << e.what() << std::endl;
    return 1;
  }
}
