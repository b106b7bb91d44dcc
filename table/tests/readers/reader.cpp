// Reader of tables in C++, for readers_test.py: answers queries as canonical text.
//
//   standard input    TABLE \t QUERIES \t ANSWERS    three files a line; table t of servers is remote:ADDRESS,..
//   standard output   done | error: ..               a line for each
//
// readers_test.py describes queries and answers. A range ends before its last key, as yunti::Table::range has it.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <yunti/table/remote.hpp>

using yunti::TableKey;
using yunti::TableRow;
using yunti::TableValue;
using yunti::table::Column;
using yunti::table::ColumnType;

static void write_hex(uint64_t bits, int digits, std::string& out) {
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[bits >> 4 * i & 15];
}

template <class Bits, class Number>
static void write_bits(Number number, std::string& out) {
  Bits bits;
  std::memcpy(&bits, &number, sizeof bits);
  write_hex(bits, 2 * sizeof bits, out);
}

static void write_values(const TableRow& row, std::string& out);

static void write_value(const TableValue& value, std::string& out) {
  if (value.is_null()) {
    out += '-';
    return;
  }
  switch (value.type()) {
    case ColumnType::Bool: out += value.get<bool>() ? "true" : "false"; break;
    case ColumnType::U64: out += std::to_string(value.get<uint64_t>()); break;
    case ColumnType::U32: out += std::to_string(value.get<uint32_t>()); break;
    case ColumnType::U16: out += std::to_string(value.get<uint16_t>()); break;
    case ColumnType::U8: out += std::to_string(value.get<uint8_t>()); break;
    case ColumnType::I8: out += std::to_string(value.get<int8_t>()); break;
    case ColumnType::I16: out += std::to_string(value.get<int16_t>()); break;
    case ColumnType::I32: out += std::to_string(value.get<int32_t>()); break;
    case ColumnType::I64: out += std::to_string(value.get<int64_t>()); break;
    case ColumnType::F32: write_bits<uint32_t>(value.get<float>(), out); break;
    case ColumnType::F64: write_bits<uint64_t>(value.get<double>(), out); break;
    case ColumnType::Utf8:
    case ColumnType::Bytes:
    case ColumnType::Dict:
      out += 'x';
      for (const char c : value.text()) write_hex(static_cast<uint8_t>(c), 2, out);
      break;
    case ColumnType::Record:
      out += '{';
      write_values(value.record(), out);
      out += '}';
      break;
    case ColumnType::List: {
      // The walk over a list and its elements by number are two ways to the same values.
      const yunti::TableList list = value.list();
      std::string walked, numbered;
      for (const TableValue& element : list) {
        write_value(element, walked);
        walked += ' ';
      }
      for (uint32_t i = 0; i < list.size(); ++i) {
        write_value(list[i], numbered);
        numbered += ' ';
      }
      if (walked != numbered) throw yunti::Error("elements by number differ: " + walked + "and " + numbered);
      if (!walked.empty()) walked.pop_back();
      out += '[' + walked + ']';
      break;
    }
  }
}

static void write_values(const TableRow& row, std::string& out) {
  for (size_t i = 0; i < row.columns().size(); ++i) {
    if (i != 0) out += ' ';
    write_value(row.value(i), out);
  }
}

static void write_row(const TableRow& row, std::string& out) {
  if (row) write_values(row, out);
  else out += "none";
  out += '\n';
}

static std::string text_of(std::string_view hex) {
  std::string text;
  for (size_t i = 0; i < hex.size(); i += 2) text += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return text;
}

// A value of a key: an integer, or a text.
struct Part {
  bool is_text = false, is_signed = false;
  uint64_t bits = 0;
  std::string text;
};

// Values of the first columns of a key; none for an open end.
static std::vector<Part> parts_of(const std::vector<const Column*>& columns, const std::string& word) {
  std::vector<Part> parts;
  if (word == "*") return parts;
  std::stringstream words(word);
  for (std::string one; std::getline(words, one, ',');) {
    Part part;
    part.is_text = one[0] == 'x';
    part.is_signed = yunti::table::is_signed(columns[parts.size()]->type);
    if (part.is_text) part.text = text_of(std::string_view(one).substr(1));
    else part.bits = part.is_signed ? static_cast<uint64_t>(std::stoll(one)) : std::stoull(one);
    parts.push_back(part);
  }
  return parts;
}

static TableKey key_of(const std::vector<Part>& parts) {
  TableKey key;
  for (const Part& part : parts) {
    if (part.is_text) key.add(part.text);
    else if (part.is_signed) key.add(static_cast<int64_t>(part.bits));
    else key.add(part.bits);
  }
  return key;
}

// Calls `use` with a key: a number or a text, if the table's key has one column.
template <class Use>
static auto with_key(const std::vector<Part>& parts, Use use) {
  if (parts.size() > 1) return use(key_of(parts));
  if (parts[0].is_text) return use(std::string_view(parts[0].text));
  if (parts[0].is_signed) return use(static_cast<int64_t>(parts[0].bits));
  return use(parts[0].bits);
}

// Answers to the queries of one table.
template <class Table, class FoundRow>
class Answers {
 public:
  Answers(const Table& table, std::vector<const Column*> key) : table_(table), key_(std::move(key)) {}

  void answer(const std::string& query) {
    std::stringstream words(query);
    std::string name, first, second;
    words >> name >> first >> second;
    if (name != "batch") end_batch();
    if (name == "batch") {
      batch_.push_back(parts_of(key_, first));
    } else if (name == "get") {
      with_key(parts_of(key_, first), [&](const auto& key) {
        const FoundRow row = table_.find(key);
        if (table_.contains(key) != static_cast<bool>(row)) throw yunti::Error("contains differs: " + query);
        write_row(row, out_);
      });
    } else if (name == "all") {
      with_key(parts_of(key_, first), [&](const auto& key) { write_rows(table_.find_all(key)); });
    } else if constexpr (std::is_same_v<Table, yunti::Table>) {
      if (name == "range") write_rows(table_.range(key_of(parts_of(key_, first)), key_of(parts_of(key_, second))));
      else if (name == "prefix") write_rows(table_.prefix(key_of(parts_of(key_, first))));
      else write_rows(table_.rows());
    } else {
      throw yunti::Error("no query for servers: " + query);
    }
  }

  // Returns the answers after the last query.
  const std::string& all() {
    end_batch();
    return out_;
  }

 private:
  template <class Rows>
  void write_rows(const Rows& rows) {
    std::string text;
    size_t count = 0;
    for (const TableRow& row : rows) {
      write_row(row, text);
      ++count;
    }
    out_ += std::to_string(count) + " rows\n" + text;
  }

  void end_batch() {
    if (batch_.empty()) return;
    std::vector<FoundRow> rows(batch_.size());
    if (key_.size() > 1) {
      find_keys(rows);
    } else if (batch_[0][0].is_text) {
      std::vector<std::string_view> texts;
      for (const std::vector<Part>& parts : batch_) texts.push_back(parts[0].text);
      table_.find_batch(texts.data(), texts.size(), rows.data());
    } else if (batch_[0][0].is_signed) {
      std::vector<int64_t> numbers;
      for (const std::vector<Part>& parts : batch_) numbers.push_back(static_cast<int64_t>(parts[0].bits));
      table_.find_batch(numbers.data(), numbers.size(), rows.data());
    } else {
      std::vector<uint64_t> numbers;
      for (const std::vector<Part>& parts : batch_) numbers.push_back(parts[0].bits);
      table_.find_batch(numbers.data(), numbers.size(), rows.data());
    }
    for (const FoundRow& row : rows) write_row(row, out_);
    batch_.clear();
  }

  // A table of servers has batches of keys of several columns; one in a file has single lookups.
  void find_keys(std::vector<FoundRow>& rows) {
    std::vector<TableKey> keys;
    for (const std::vector<Part>& parts : batch_) keys.push_back(key_of(parts));
    if constexpr (std::is_same_v<Table, yunti::Table>) {
      for (size_t i = 0; i < keys.size(); ++i) rows[i] = table_.find(keys[i]);
    } else {
      table_.find_batch(keys.data(), keys.size(), rows.data());
    }
  }

  const Table& table_;
  std::vector<const Column*> key_;
  std::vector<std::vector<Part>> batch_;
  std::string out_;
};

template <class Answers>
static void answer_all(Answers answers, const std::string& queries, const std::string& place) {
  std::ifstream in(queries);
  for (std::string query; std::getline(in, query);) answers.answer(query);
  std::ofstream(place) << answers.all();
}

static void run(const std::string& line) {
  std::stringstream places(line);
  std::string path, queries, answers, address;
  std::getline(places, path, '\t');
  std::getline(places, queries, '\t');
  std::getline(places, answers, '\t');
  std::vector<const Column*> key;
  if (path.rfind("remote:", 0) != 0) {
    const yunti::Table table(path);
    for (const uint32_t number : table.key_columns()) key.push_back(&table.columns()[number]);
    answer_all(Answers<yunti::Table, TableRow>(table, key), queries, answers);
    return;
  }
  std::vector<std::string> addresses;
  std::stringstream list(path.substr(path.find(':') + 1));
  while (std::getline(list, address, ',')) addresses.push_back(address);
  const yunti::RemoteTable table("t", addresses);
  for (const Column& column : table.key_columns()) key.push_back(&column);
  answer_all(Answers<yunti::RemoteTable, yunti::RemoteRow>(table, key), queries, answers);
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      run(line);
      std::cout << "done" << std::endl;
    } catch (const std::exception& e) {
      std::cout << "error: " << e.what() << std::endl;
    }
  }
}
