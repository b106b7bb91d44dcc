// Test of yunti::Table on tables of all shapes that writer.hpp writes: every key is found with its values, others are
// not; ranges and prefixes have the rows of a std::map; damage is an error, and a hostile file is never a crash.
//
//   table_test [ROUNDS]           random tables
//   table_test --read FILE        checks a table of `yunti table build`, and prints the number of its rows
//   table_test --write FILE       writes the table that c_test.c reads
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <functional>
#include <random>
#include <set>
#include <thread>

#include "writer.hpp"

using writer::Col;
using writer::ColumnType;
using writer::Node;

static std::mt19937_64 random_bits(11);

static uint64_t below(uint64_t n) { return random_bits() % n; }

// A file that is removed at the end.
struct TempFile {
  std::string path = "/tmp/yunti-table-test-" + std::to_string(getpid()) + ".ytab";
  explicit TempFile(const std::string& bytes) { write(bytes); }
  ~TempFile() { unlink(path.c_str()); }
  void write(const std::string& bytes) const {
    const std::string beside = path + ".new";
    std::FILE* file = std::fopen(beside.c_str(), "wb");
    CHECK(file != nullptr);
    CHECK(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    CHECK(std::fclose(file) == 0);
    CHECK(std::rename(beside.c_str(), path.c_str()) == 0);
  }
};

static bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

static void known_sums() {
  using yunti::table::detail::checksum_by_instruction;
  using yunti::table::detail::checksum_by_table;
  using yunti::table::detail::HashStart;
  for (size_t n = 0; n < 200; ++n) {
    std::string bytes;
    for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(random_bits());
    const uint64_t seed = n % 2 == 0 ? 0 : random_bits();
    CHECK(HashStart(seed).of(bytes) == writer::hash(bytes, seed));
  }
  for (int i = 0; i < 1000; ++i) {
    const uint64_t word = random_bits(), seed = random_bits();
    CHECK(HashStart(seed).of(word) == writer::hash(writer::raw(word), seed));
  }
  CHECK(checksum_by_table("123456789", 9) == 0xE3069283u);
  for (size_t n = 0; n < 200; ++n) {
    std::string bytes;
    for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(random_bits());
    if (yunti::table::detail::has_instruction())
      CHECK(checksum_by_instruction(bytes.data(), n) == checksum_by_table(bytes.data(), n));
  }
}

// ---- random tables ------------------------------------------------------------------------------------------------

static Col random_column(const std::string& name, int depth) {
  const ColumnType type = static_cast<ColumnType>(below(depth < 3 ? 16 : 13));
  Col col{name, type == ColumnType::Dict && depth > 0 ? ColumnType::Utf8 : type, below(2) == 0};
  if (type == ColumnType::List) col.inner.push_back(random_column("", depth + 1));
  if (type == ColumnType::Record)
    for (uint64_t n = 1 + below(4); n > 0; --n) col.inner.push_back(random_column("f" + std::to_string(n), depth + 1));
  return col;
}

static Node random_node(const Col& col, uint64_t spread) {
  Node node;
  if (col.is_nullable && below(3) == 0) {
    node.is_missing = true;
    return node;
  }
  if (col.type == ColumnType::Record) {
    for (const Col& field : col.inner) node.inner.push_back(random_node(field, spread));
  } else if (col.type == ColumnType::List) {
    for (uint64_t n = below(4) == 0 ? below(20) : below(3); n > 0; --n)
      node.inner.push_back(random_node(col.inner[0], spread));
  } else if (const size_t width = yunti::table::width_of(col.type); width != 0 && col.type != ColumnType::Dict) {
    const uint64_t value = below(2) == 0 ? below(spread) : random_bits();
    node.bytes = writer::raw(col.type == ColumnType::Bool ? value & 1 : value).substr(0, width);
  } else {
    // Few letters, so that texts begin like others; zeros and high bytes among them.
    static constexpr char letters[] = {'a', 'b', '\0', '\xff'};
    for (uint64_t n = below(col.type == ColumnType::Dict ? 3 : below(30) == 0 ? 300 : 12); n > 0; --n)
      node.bytes += letters[below(4)];
  }
  return node;
}

static writer::Table random_table() {
  writer::Table table;
  const uint64_t key_columns = below(2) == 0 ? 1 : 1 + below(3);
  table.keys.clear();
  for (uint64_t n = key_columns + below(5); n > 0; --n) table.cols.push_back(random_column("c" + std::to_string(n), 0));
  for (uint64_t k = 0; k < key_columns; ++k) {
    static constexpr ColumnType types[] = {ColumnType::I64, ColumnType::Utf8, ColumnType::Bytes, ColumnType::I8,
                                           ColumnType::I32, ColumnType::U64,  ColumnType::U16,   ColumnType::Bool};
    const uint16_t number = static_cast<uint16_t>(below(table.cols.size()));
    if (std::count(table.keys.begin(), table.keys.end(), number) != 0) continue;
    table.cols[number] = {table.cols[number].name, types[below(8)], false};
    table.keys.push_back(number);
  }
  table.is_multi = below(3) == 0;
  table.is_ordered = below(2) == 0;
  table.parts = static_cast<uint32_t>(1 + below(4));
  std::set<std::vector<writer::Part>> seen;
  for (uint64_t n = below(10) == 0 ? below(3) : below(400); n > 0; --n) {
    std::vector<Node> row;
    for (const Col& col : table.cols) row.push_back(random_node(col, 1000));
    if (seen.insert(table.key_of(row)).second || table.is_multi) table.rows.push_back(row);
  }
  return table;
}

// ---- comparison ---------------------------------------------------------------------------------------------------

template <class T>
static void check_number(const yunti::TableValue& value, const Node& node) {
  T expect{};
  if (!node.is_missing) std::memcpy(&expect, node.bytes.data(), sizeof expect);
  const T is = value.get<T>();
  CHECK(std::memcmp(&is, &expect, sizeof is) == 0);
}

static void check_value(const yunti::TableValue& value, const Col& col, const Node& node) {
  CHECK(value.is_null() == node.is_missing);
  CHECK(value.type() == col.type);
  switch (col.type) {
    case ColumnType::Bool: CHECK(value.get<bool>() == (!node.is_missing && node.bytes[0] != 0)); break;
    case ColumnType::I8: check_number<int8_t>(value, node); break;
    case ColumnType::I16: check_number<int16_t>(value, node); break;
    case ColumnType::I32: check_number<int32_t>(value, node); break;
    case ColumnType::I64: check_number<int64_t>(value, node); break;
    case ColumnType::U8: check_number<uint8_t>(value, node); break;
    case ColumnType::U16: check_number<uint16_t>(value, node); break;
    case ColumnType::U32: check_number<uint32_t>(value, node); break;
    case ColumnType::U64: check_number<uint64_t>(value, node); break;
    case ColumnType::F32: check_number<float>(value, node); break;
    case ColumnType::F64: check_number<double>(value, node); break;
    case ColumnType::Record: {
      const yunti::TableRow record = value.record();
      CHECK(static_cast<bool>(record) == !node.is_missing);
      for (size_t i = 0; i < node.inner.size(); ++i) check_value(record.value(i), col.inner[i], node.inner[i]);
      break;
    }
    case ColumnType::List: {
      const yunti::TableList list = value.list();
      CHECK(list.size() == node.inner.size());
      size_t i = 0;
      for (const yunti::TableValue& element : list) check_value(element, col.inner[0], node.inner[i++]);
      CHECK(i == list.size());
      for (uint32_t k = 0; k < list.size(); ++k) check_value(list[k], col.inner[0], node.inner[k]);
      break;
    }
    default: CHECK(value.text() == node.bytes);
  }
}

static void check_row(const yunti::TableRow& row, const writer::Table& of, size_t number) {
  CHECK(static_cast<bool>(row));
  for (size_t i = 0; i < of.cols.size(); ++i) check_value(row.value(i), of.cols[i], of.rows[number][i]);
  check_value(row.value(of.cols[0].name), of.cols[0], of.rows[number][0]);
}

static void check_rows(const yunti::TableRows& rows, const writer::Table& of, const std::vector<size_t>& numbers) {
  size_t i = 0;
  for (const yunti::TableRow& row : rows) {
    CHECK(i < numbers.size());
    check_row(row, of, numbers[i++]);
  }
  CHECK(i == numbers.size() && rows.empty() == numbers.empty() && rows.count() == i);
}

// Adds the first values of a key.
static yunti::TableKey key_of(const writer::Table& of, const std::vector<writer::Part>& parts, size_t count) {
  yunti::TableKey key;
  for (size_t i = 0; i < count; ++i) {
    const ColumnType type = of.cols[of.keys[i]].type;
    if (yunti::table::width_of(type) == 0) key.add(parts[i].second);
    else if (yunti::table::is_signed(type)) key.add(static_cast<int64_t>(parts[i].first ^ uint64_t{1} << 63));
    else key.add(parts[i].first);
  }
  return key;
}

static void check_batch(const yunti::Table& table, const writer::Table& of) {
  const ColumnType type = of.cols[of.keys[0]].type;
  if (of.keys.size() != 1) return;
  std::vector<std::vector<writer::Part>> keys;
  for (const auto& [key, rows] : of.by_key()) {
    keys.push_back(key);
    writer::Part other = key[0];
    if (yunti::table::width_of(type) == 0) other.second += "zz";
    else other.first = random_bits();
    keys.push_back({other});
  }
  std::vector<yunti::TableRow> rows(keys.size());
  std::vector<int64_t> numbers;
  std::vector<uint64_t> unsigned_numbers;
  std::vector<std::string_view> texts;
  size_t found = 0, expect = 0;
  for (const auto& key : keys) {
    numbers.push_back(static_cast<int64_t>(key[0].first ^ uint64_t{1} << 63));
    unsigned_numbers.push_back(key[0].first);
    texts.push_back(key[0].second);
  }
  if (yunti::table::width_of(type) == 0) found = table.find_batch(texts.data(), texts.size(), rows.data());
  else if (yunti::table::is_signed(type)) found = table.find_batch(numbers.data(), numbers.size(), rows.data());
  else found = table.find_batch(unsigned_numbers.data(), numbers.size(), rows.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const yunti::TableRow one = table.find(key_of(of, keys[i], 1));
    CHECK(static_cast<bool>(one) == static_cast<bool>(rows[i]) && one.bytes().data() == rows[i].bytes().data());
    expect += static_cast<bool>(one);
    yunti::TableRow typed;
    if (yunti::table::width_of(type) == 0) typed = table.find(texts[i]);
    else if (yunti::table::is_signed(type)) typed = table.find(numbers[i]);
    else typed = table.find(unsigned_numbers[i]);
    CHECK(typed.bytes().data() == one.bytes().data());
  }
  CHECK(found == expect);
}

static void check_order(const yunti::Table& table, const writer::Table& of) {
  const auto all = of.by_key();
  std::vector<const std::vector<writer::Part>*> keys;
  for (const auto& [key, rows] : all) keys.push_back(&key);
  if (!of.is_ordered) {
    CHECK(has(error_of([&] { table.range({}, {}); }), "no order"));
    return;
  }
  const auto rows_where = [&](const auto& is) {
    std::vector<size_t> rows;
    for (const auto& [key, of_key] : all)
      if (is(key)) rows.insert(rows.end(), of_key.begin(), of_key.end());
    return rows;
  };
  check_rows(table.range({}, {}), of, rows_where([](const auto&) { return true; }));
  for (int round = 0; round < 20; ++round) {
    std::vector<Node> other;
    for (const Col& col : of.cols) other.push_back(random_node(col, 1000));
    std::vector<writer::Part> from = keys.empty() || below(2) == 0 ? of.key_of(other) : *keys[below(keys.size())];
    std::vector<writer::Part> to = keys.empty() ? from : *keys[below(keys.size())];
    from.resize(1 + below(from.size()));
    to.resize(1 + below(to.size()));
    const yunti::TableKey a = key_of(of, from, from.size()), b = key_of(of, to, to.size());
    check_rows(table.range(a, b), of, rows_where([&](const auto& key) { return !(key < from) && key < to; }));
    check_rows(table.range(a, {}), of, rows_where([&](const auto& key) { return !(key < from); }));
    std::string& last = from.back().second;
    last.resize(below(last.size() + 1));
    check_rows(table.prefix(key_of(of, from, from.size())), of, rows_where([&](std::vector<writer::Part> key) {
                 key.resize(from.size());
                 if (key.back().second.size() > last.size()) key.back().second.resize(last.size());
                 return key == from;
               }));
  }
}

static void check_table(const yunti::Table& table, const writer::Table& of) {
  const auto all = of.by_key();
  CHECK(table.size() == all.size() && table.row_count() == of.rows.size());
  for (const auto& [key, rows] : all) {
    const yunti::TableKey built = key_of(of, key, key.size());
    check_row(table.find(built), of, rows[0]);
    check_rows(table.find_all(built), of, rows);
  }
  for (int i = 0; i < 100; ++i) {
    std::vector<Node> other;
    for (const Col& col : of.cols) other.push_back(random_node(col, 1000));
    const std::vector<writer::Part> key = of.key_of(other);
    CHECK(table.contains(key_of(of, key, key.size())) == (all.count(key) != 0));
  }
  check_batch(table, of);
  check_order(table, of);
  CHECK(table.rows().count() == of.rows.size());
}

// ---- damage -------------------------------------------------------------------------------------------------------

static bool changes(std::string& file) {
  const size_t at = below(2) == 0 ? below(file.size()) : below(std::min<size_t>(file.size(), 400));
  const char old = file[at];
  file[at] = static_cast<char>(below(2) == 0 ? old ^ 1 << below(8) : static_cast<int>(random_bits()));
  return file[at] != old;
}

// Reads what there is to read; what a hostile file says does not matter.
static void read_all(const yunti::Table& table, const writer::Table& of) {
  for (const auto& entry : of.by_key()) {
    const auto& key = entry.first;
    error_of([&] {
      for (const yunti::TableRow& row : table.find_all(key_of(of, key, key.size())))
        for (size_t i = 0; i < table.columns().size(); ++i) row.value(i);
    });
  }
  error_of([&] { check_batch(table, of); });
  error_of([&] { table.verify(); });
  error_of([&] {
    for (const yunti::TableRow& row : table.range(key_of(of, of.by_key().begin()->first, 1), {})) row.value(0);
  });
}

static void check_damage(const writer::Table& of, const std::string& good, const TempFile& file) {
  std::string damaged = good;
  while (!changes(damaged)) {}
  file.write(damaged);
  // A wrong byte is an error, or is not read.
  std::unique_ptr<yunti::Table> table;
  if (error_of([&] { table = std::make_unique<yunti::Table>(file.path); }).empty()) {
    CHECK(has(error_of([&] { table->verify(); }), "damaged"));
    for (const auto& [key, rows] : of.by_key()) {
      const yunti::TableKey built = key_of(of, key, key.size());
      const auto& numbers = rows;
      const std::string error = error_of([&] { check_rows(table->find_all(built), of, numbers); });
      CHECK(error.empty() || has(error, "damaged"));
    }
  }
  // A file with right sums may say anything, or be cut.
  std::string hostile = good;
  for (uint64_t n = 1 + below(3); n > 0; --n) changes(hostile);
  writer::seal(hostile);
  if (below(8) == 0) hostile.resize(below(hostile.size()));
  file.write(hostile);
  table.reset();
  error_of([&] { table = std::make_unique<yunti::Table>(file.path); });
  if (table && !of.rows.empty()) read_all(*table, of);
}

static void random_tables(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const writer::Table of = random_table();
    std::string bytes = of.bytes();
    const TempFile file(bytes);
    for (const bool trust : {false, true}) {
      yunti::TableOptions options;
      options.trust = trust;
      options.populate = options.huge_pages = options.interleave = trust;
      const yunti::Table table(file.path, options);
      check_table(table, of);
      table.verify();
    }
    for (int i = 0; i < 20; ++i) check_damage(of, bytes, file);
  }
}

// ---- single cases -------------------------------------------------------------------------------------------------

static writer::Table users(int64_t count, int64_t step) {
  writer::Table of;
  of.cols = {{"id", ColumnType::I32}, {"name", ColumnType::Utf8}, {"score", ColumnType::F32, true}};
  for (int64_t i = 0; i < count; ++i) {
    const float score = static_cast<float>(i) / 2;
    of.rows.push_back({writer::number(ColumnType::I32, i * step), {false, "user " + std::to_string(i)},
                       {i % 2 == 0, i % 2 == 0 ? "" : writer::raw(score)}});
  }
  return of;
}

// Rows of shops and days: a list of texts, a list of records, and a record.
static writer::Table nested() {
  writer::Table of;
  const Col place{"place", ColumnType::Record, true, {{"x", ColumnType::I16}, {"y", ColumnType::F64}}};
  of.cols = {{"shop", ColumnType::Utf8}, {"day", ColumnType::I32}, {"is_open", ColumnType::Bool, true},
             {"tags", ColumnType::List, true, {{"", ColumnType::Utf8}}},
             {"visits", ColumnType::List, false, {{"", ColumnType::U64}}},
             {"places", ColumnType::List, false, {{"", ColumnType::Record, true, place.inner}}}, place};
  of.keys = {0, 1};
  of.is_multi = of.is_ordered = true;
  const Node at{false, "", {writer::number(ColumnType::I16, -7), {false, writer::raw(0.5)}}};
  for (int64_t i = 0; i < 100; ++i) {
    const Node tags = i % 5 == 0 ? Node{true} : Node{false, "", {{false, "tag " + std::to_string(i)}, {false, ""}}};
    const Node visits{false, "", {{false, writer::raw(uint64_t{1} << 63)}, {false, writer::raw(i)}}};
    const Node places{false, "", {{true}, at}};
    of.rows.push_back({{false, "shop " + std::to_string(i / 10)}, writer::number(ColumnType::I32, i % 10 / 2 - 2),
                       {false, std::string(1, static_cast<char>(i % 2))}, tags, visits, places,
                       i % 2 == 0 ? at : Node{true}});
  }
  return of;
}

static void a_row_is_read_by_names() {
  const TempFile file(users(1000, -3).bytes());
  const yunti::Table table(file.path);
  const yunti::TableRow row = table.find(-33);
  CHECK(row.text("name") == "user 11" && row.get<float>("score") == 5.5f && row.get<double>(2) == 5.5);
  CHECK(row.get<int64_t>("id") == -33 && row.get<int32_t>(0) == -33 && !row.is_null("score"));
  const yunti::TableRow missing = table.find(-6);
  CHECK(missing.is_null("score") && missing.get<float>("score") == 0);
  CHECK(!table.find(1) && !table.find(5'000'000'000) && !table.find(UINT64_MAX - 2) && table.find(int8_t{-3}));
  CHECK(table.column("score") == 2 && table.columns()[2].is_nullable && table.key_columns()[0] == 0);
  for (const auto& [what, call] : std::initializer_list<std::pair<const char*, std::function<void()>>>{
           {"the key of the table is id (i32)", [&] { table.find("a"); }},
           {"the key of the table is id (i32)", [&] { table.find(yunti::TableKey().add(1).add(2)); }},
           {"no column none", [&] { table.column("none"); }},
           {"no column none", [&] { row.text("none"); }},
           {"no such column", [&] { row.get<int64_t>(3); }},
           {"the column id is i32, not an integer of that size", [&] { row.get<int16_t>("id"); }},
           {"the column id is i32, not an integer of that size", [&] { row.get<uint64_t>("id"); }},
           {"the column id is i32, not a floating-point number", [&] { row.get<float>("id"); }},
           {"the column score is f32, not an integer", [&] { row.get<int64_t>("score"); }},
           {"the column name is utf8, not a number", [&] { row.get<int64_t>("name"); }},
           {"the column id is i32, not a text", [&] { row.text("id"); }},
           {"the column id is i32, not a list", [&] { row.list("id"); }},
           {"no such column", [&] { yunti::TableRow().text(0); }}}) {
    const std::string error = error_of(call);
    if (!has(error, what)) std::fprintf(stderr, "'%s' is not '%s'\n", error.c_str(), what);
    CHECK(has(error, what));
  }
}

static void a_replaced_table_is_opened_again() {
  const TempFile file(users(10, 1).bytes());
  const yunti::Table table(file.path);
  CHECK(table.reopen() == nullptr);
  file.write(users(20, 1).bytes());
  const std::unique_ptr<yunti::Table> next = table.reopen();
  CHECK(next != nullptr && next->size() == 20 && next->find(19) && !table.find(19) && table.find(9));
}

static void no_tables() {
  CHECK(has(error_of([] { yunti::Table("/nowhere.ytab"); }), "cannot open the table: /nowhere.ytab"));
  CHECK(has(error_of([] { yunti::Table("/tmp"); }), "no plain file"));
  const TempFile file("");
  CHECK(has(error_of([&] { yunti::Table(file.path); }), "no table of yunti table build"));
  std::string bytes = users(5, 1).bytes();
  file.write(bytes.substr(0, 4000));
  CHECK(has(error_of([&] { yunti::Table(file.path); }), "it is cut"));
  file.write(bytes.substr(0, bytes.size() - 1));
  CHECK(has(error_of([&] { yunti::Table(file.path); }), "it is cut"));
  bytes[8] = 3;
  file.write(bytes);
  CHECK(has(error_of([&] { yunti::Table(file.path); }), "has version 3, this program reads 2"));
  bytes[8] = 1;
  file.write(bytes);
  CHECK(has(error_of([&] { yunti::Table(file.path); }),
            "the table has version 1: build it again with this version of yunti table build"));
}

// Rows of different lengths whose key is an integer or a text, alone or beside another text.
static writer::Table in_groups(ColumnType key, bool has_other_text, uint32_t end_bytes) {
  writer::Table of;
  of.cols = {{"value", ColumnType::U64}, {"key", key}};
  if (has_other_text) of.cols.push_back({"text", ColumnType::Utf8});
  of.keys = {1};
  of.end_bytes = end_bytes;
  for (int64_t i = 0; i < 300; ++i) {
    const Node text{false, std::string(static_cast<size_t>(i % 40), 'x') + std::to_string(i)};
    of.rows.push_back({writer::number(ColumnType::U64, i), {}});
    of.rows.back()[1] = key == ColumnType::Utf8 ? text : writer::number(key, i);
    if (has_other_text) of.rows.back().push_back(text);
  }
  return of;
}

// Looks up all keys, and returns how many of them end with this error. The others must be there.
static size_t errors_of(const yunti::Table& table, const writer::Table& of, const char* expect) {
  size_t errors = 0;
  for (const auto& [key, rows] : of.by_key()) {
    const std::string& text = key[0].second;
    const int64_t number = static_cast<int64_t>(key[0].first ^ uint64_t{1} << 63);
    const size_t row = rows[0];
    const std::string error = error_of([&] {
      check_row(of.cols[1].type == ColumnType::Utf8 ? table.find(text) : table.find(number), of, row);
    });
    CHECK(error.empty() || has(error, expect));
    errors += !error.empty();
  }
  return errors;
}

// A file with right sums whose first group contradicts itself: each of its keys is an error, on all paths of lookups.
static void groups_are_not_trusted() {
  const auto u64 = [](const std::string& file, size_t at) { return yunti::detail::load<uint64_t>(file.data() + at); };
  for (const ColumnType key : {ColumnType::I64, ColumnType::I32, ColumnType::Utf8})
    for (const bool has_other_text : {true, false})
      for (const uint32_t end_bytes : {2u, 4u}) {
        if (key != ColumnType::Utf8 && !has_other_text) continue;
        const writer::Table of = in_groups(key, has_other_text, end_bytes);
        const std::string good = of.bytes();
        const size_t group = u64(good, 64 + 16 * 3);
        const uint64_t rows_bytes = u64(good, 72 + 16 * 4);
        const auto with_base = [&](uint64_t base) {
          std::string bytes = good;
          return bytes.replace(group, 8, writer::raw(base));
        };
        std::string falling = good;
        for (uint32_t i = 0; i <= 16; ++i)
          falling.replace(group + 8 + i * end_bytes, end_bytes, writer::raw(2000 - 100 * i).substr(0, end_bytes));
        // Lengths stay as they are.
        std::string shifted = good;
        for (uint32_t i = 0; i <= 16; ++i) {
          uint32_t end = 0;
          std::memcpy(&end, &good[group + 8 + i * end_bytes], end_bytes);
          shifted.replace(group + 8 + i * end_bytes, end_bytes, writer::raw(end + 60000).substr(0, end_bytes));
        }
        CHECK(rows_bytes < 60000);
        size_t expect = 0;
        for (std::string bytes :
             {falling, shifted, with_base(rows_bytes), with_base(UINT64_MAX), with_base(UINT64_MAX - 9),
              with_base(uint64_t{1} << 63), with_base(uint64_t{0} - rows_bytes)}) {
          writer::seal(bytes);
          const TempFile file(bytes);
          for (const bool trust : {false, true}) {
            yunti::TableOptions options;
            options.trust = trust;
            const yunti::Table table(file.path, options);
            for (int round = 0; round < 2; ++round) {
              const size_t errors = errors_of(table, of, "a group is cut, or outside of its section");
              if (expect == 0) expect = errors;
              CHECK(errors > 8 && errors <= 16 && errors == expect);
            }
            CHECK(has(error_of([&] { table.verify(); }), "a group is cut"));
          }
        }
      }
}

static void buckets_are_a_power_of_two() {
  writer::Table of = users(40, 1);
  for (const uint32_t buckets : {8u, 12u}) {
    of.buckets = buckets;
    const TempFile file(of.bytes());
    const std::string error = error_of([&] { yunti::Table(file.path).verify(); });
    CHECK(buckets == 8 ? error.empty() : has(error, "its header contradicts itself"));
  }
}

// Blocks that walks read alone do not keep lookups from their fast path.
static void lookups_are_ready_without_walks() {
  writer::Table of;
  of.cols = {{"key", ColumnType::U64}, {"value", ColumnType::U64}};
  of.is_ordered = true;
  for (int64_t i = 0; i < 20000; ++i)
    of.rows.push_back({writer::number(ColumnType::U64, i), writer::number(ColumnType::U64, -i)});
  const TempFile file(of.bytes());
  const yunti::table::Store store(file.path, {});
  const uint64_t slots = store.header.all_slots(), order = store.header.order.end();
  CHECK((order - 1) >> 16 > (store.header.row_data.end() - 1) >> 16);
  CHECK(!store.file.is_ready());
  // All pilots, and all rows but those of the last block.
  for (uint64_t hash = 0; hash < 1 << 20; ++hash) store.slot_of(hash << 44);
  for (uint64_t slot = 0; slot * 16 < store.header.row_data.bytes - 65536; ++slot) store.bytes_of(slot);
  CHECK(!store.file.is_ready());
  store.bytes_of(slots - 1);
  CHECK(store.file.is_ready());
}

static void short_ends_and_many_threads() {
  writer::Table of = users(3000, 1);
  of.end_bytes = 2;
  of.parts = 3;
  const TempFile file(of.bytes());
  const yunti::Table table(file.path);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int64_t i = 0; i < 3000; ++i) CHECK(table.find(i).text(1) == "user " + std::to_string(i));
    });
  for (std::thread& thread : threads) thread.join();
  table.verify();
}

int main(int count, char** arguments) {
  if (count == 3 && std::string(arguments[1]) == "--read") {
    const yunti::Table table(arguments[2]);
    table.verify();
    std::printf("%llu\n", static_cast<unsigned long long>(table.rows().count()));
    return 0;
  }
  if (count == 3 && std::string(arguments[1]) == "--write") {
    TempFile file(nested().bytes());
    CHECK(std::rename(file.path.c_str(), arguments[2]) == 0);
    return 0;
  }
  known_sums();
  a_row_is_read_by_names();
  a_replaced_table_is_opened_again();
  no_tables();
  groups_are_not_trusted();
  buckets_are_a_power_of_two();
  lookups_are_ready_without_walks();
  short_ends_and_many_threads();
  random_tables(count == 2 ? std::atoi(arguments[1]) : 100);
  std::puts("table_test: ok");
}
