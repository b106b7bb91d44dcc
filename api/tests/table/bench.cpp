// Lookups of random keys: one by one, and in batches.
//
//   table_bench FILE.ytab KEYS [LOOKUPS]    a table whose key is an integer from 0 to before KEYS
//   table_bench --tiny                      a table of its own, so that the program cannot rot
//
// Prints nanoseconds a lookup: the least of three rounds. A row is read after each lookup, as a caller would do.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <random>

#include "writer.hpp"

static uint64_t sink;

template <class F>
static double nanos(size_t lookups, F&& round) {
  double least = 1e18;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    round();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    least = std::min(least, spent.count() / static_cast<double>(lookups));
  }
  return least;
}

static void read(const yunti::TableRow& row) { sink += static_cast<uint8_t>(row.bytes().back()); }

static void measure(const std::string& path, uint64_t keys, size_t lookups) {
  yunti::TableOptions options;
  options.populate = options.huge_pages = true;
  const yunti::Table table(path, options);
  table.find(0);
  std::mt19937_64 random(3);
  std::vector<int64_t> present(lookups), absent(lookups);
  for (size_t i = 0; i < lookups; ++i) {
    present[i] = static_cast<int64_t>(random() % keys);
    absent[i] = static_cast<int64_t>(keys + random() % keys);
  }
  std::vector<yunti::TableRow> rows(256);
  const auto single = [&](const std::vector<int64_t>& of) {
    return nanos(lookups, [&] {
      for (const int64_t key : of)
        if (const yunti::TableRow row = table.find(key)) read(row);
    });
  };
  const auto batch = [&](const std::vector<int64_t>& of) {
    return nanos(lookups, [&] {
      for (size_t done = 0; done < lookups; done += rows.size()) {
        const size_t n = std::min(rows.size(), lookups - done);
        table.find_batch(&of[done], n, rows.data());
        for (size_t i = 0; i < n; ++i)
          if (rows[i]) read(rows[i]);
      }
    });
  };
  std::printf("%llu keys, %llu bytes; ns a lookup: single %.1f, batch %.1f; of absent keys: single %.1f, batch %.1f\n",
              static_cast<unsigned long long>(table.size()), static_cast<unsigned long long>(table.file_bytes()),
              single(present), batch(present), single(absent), batch(absent));
}

int main(int count, char** arguments) {
  if (count >= 3) {
    measure(arguments[1], std::strtoull(arguments[2], nullptr, 10),
            count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 4'000'000);
    return sink == 1 ? 1 : 0;
  }
  writer::Table of;
  of.cols = {{"id", writer::ColumnType::I64}, {"value", writer::ColumnType::U64}};
  for (int64_t i = 0; i < 1000; ++i)
    of.rows.push_back({writer::number(writer::ColumnType::I64, i), writer::number(writer::ColumnType::U64, i)});
  const std::string path = "/tmp/yunti-table-bench-" + std::to_string(getpid()) + ".ytab";
  const std::string bytes = of.bytes();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  CHECK(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fclose(file) == 0);
  measure(path, 1000, 2000);
  unlink(path.c_str());
}
