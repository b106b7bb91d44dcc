// Lookups of random keys in LMDB, RocksDB and a shared table, one of them a run:
//
//   peers lmdb|rocksdb|yunti KEYS integers|texts LOOKUPS FILE
//
// The rows are those of table/benches/lookups.rs: a key, and its number of 8 bytes. It prints one object of JSON:
// seconds to build, nanoseconds of single and batched lookups of three rounds, bytes of the file, and the sum of what
// was found.

#include <lmdb.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <yunti/table.hpp>

namespace {

constexpr size_t kBatch = 1024;

// SplitMix64: number of a key -> key.
uint64_t mixed(uint64_t number) {
  uint64_t z = number * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

// Keys side by side: of 8 bytes, or texts of 16.
struct Keys {
  size_t width;
  std::string bytes;

  Keys(bool is_text, size_t count, const std::function<uint64_t(uint64_t)>& number_of) : width(is_text ? 16 : 8) {
    bytes.resize(width * count);
    for (size_t at = 0; at < count; ++at) {
      const uint64_t key = mixed(number_of(at));
      if (is_text) {
        char text[32];
        snprintf(text, sizeof text, "user%012" PRIu64, key % 1000000000000u);
        std::memcpy(&bytes[at * width], text, width);
      } else {
        std::memcpy(&bytes[at * width], &key, width);
      }
    }
  }

  std::string_view operator[](size_t at) const { return {bytes.data() + at * width, width}; }
};

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "peers: %s\n", what.c_str());
  exit(1);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Calls `pass` three times, and returns nanoseconds of each lookup as JSON. All passes must find the same sum.
std::string timed(size_t lookups, uint64_t& sum, const std::function<uint64_t()>& pass) {
  std::string out = "[";
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t found = pass();
    char text[32];
    snprintf(text, sizeof text, "%s%.1f", round == 0 ? "" : ", ", seconds_since(begin) * 1e9 / lookups);
    out += text;
    if (sum != 0 && sum != found) fail("the sums differ");
    sum = found;
  }
  return out + "]";
}

uint64_t number_in(const char* bytes) {
  uint64_t number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

// Numbers of the keys in their order, the last one of equal keys: both peers load sorted rows fastest.
std::vector<uint32_t> sorted(const Keys& keys, size_t count, bool by_number) {
  std::vector<uint32_t> order(count);
  for (size_t at = 0; at < count; ++at) order[at] = static_cast<uint32_t>(at);
  if (by_number) {
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return number_in(keys[a].data()) < number_in(keys[b].data()); });
  } else {
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  }
  size_t kept = 0;
  for (size_t at = 0; at < count; ++at) {
    if (at + 1 < count && keys[order[at]] == keys[order[at + 1]]) continue;
    order[kept++] = order[at];
  }
  order.resize(kept);
  return order;
}

void check(int code, const char* what) {
  if (code != 0) fail(std::string(what) + ": " + mdb_strerror(code));
}

void lmdb(const Keys& keys, size_t count, bool is_text, const Keys& asked, size_t lookups, const std::string& path) {
  MDB_env* env;
  MDB_txn* txn;
  MDB_dbi dbi;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<uint32_t> order = sorted(keys, count, !is_text);
  check(mdb_env_create(&env), "create");
  check(mdb_env_set_mapsize(env, (size_t(1) << 24) + count * 96), "size");
  check(mdb_env_open(env, path.c_str(), MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD, 0644), "open");
  check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
  check(mdb_dbi_open(txn, nullptr, is_text ? 0 : MDB_INTEGERKEY, &dbi), "database");
  for (const uint64_t number : order) {
    MDB_val key{keys.width, const_cast<char*>(keys[number].data())};
    MDB_val value{sizeof number, const_cast<uint64_t*>(&number)};
    check(mdb_put(txn, dbi, &key, &value, MDB_APPEND), "put");
  }
  check(mdb_txn_commit(txn), "commit");
  check(mdb_env_sync(env, 1), "sync");
  const double built = seconds_since(begin);
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
  uint64_t sum = 0;
  const std::string get = timed(lookups, sum, [&] {
    uint64_t all = 0;
    for (size_t at = 0; at < lookups; ++at) {
      MDB_val key{asked.width, const_cast<char*>(asked[at].data())}, value;
      if (mdb_get(txn, dbi, &key, &value) == 0) all += number_in(static_cast<char*>(value.mv_data));
    }
    return all;
  });
  MDB_envinfo info;
  mdb_env_info(env, &info);
  MDB_stat stat;
  mdb_env_stat(env, &stat);
  printf("{\"name\": \"LMDB\", \"build_s\": %.2f, \"bytes\": %zu, \"get_ns\": %s, \"sum\": %" PRIu64 "}\n", built,
         (info.me_last_pgno + 1) * size_t(stat.ms_psize), get.c_str(), sum);
}

void check(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

void rocks(const Keys& keys, size_t count, const Keys& asked, size_t lookups, const std::string& path) {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.no_block_cache = true;  // blocks are read where they are mapped
  blocks.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  blocks.block_size = 1024;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.allow_mmap_reads = true;
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<uint32_t> order = sorted(keys, count, false);
  const std::string file = path + ".sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  check(writer.Open(file));
  for (const uint64_t number : order) {
    const std::string_view key = keys[number];
    check(writer.Put({key.data(), key.size()}, {reinterpret_cast<const char*>(&number), sizeof number}));
  }
  check(writer.Finish());
  rocksdb::DB* db;
  check(rocksdb::DB::Open(options, path, &db));
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  check(db->IngestExternalFile({file}, ingest));
  const double built = seconds_since(begin);
  rocksdb::ReadOptions read;
  read.verify_checksums = false;
  uint64_t sum = 0;
  rocksdb::PinnableSlice value;
  const std::string get = timed(lookups, sum, [&] {
    uint64_t all = 0;
    for (size_t at = 0; at < lookups; ++at) {
      value.Reset();
      const std::string_view key = asked[at];
      if (db->Get(read, db->DefaultColumnFamily(), {key.data(), key.size()}, &value).ok()) all += number_in(value.data());
    }
    return all;
  });
  std::vector<rocksdb::Slice> slices(kBatch);
  std::vector<rocksdb::PinnableSlice> values(kBatch);
  std::vector<rocksdb::Status> states(kBatch);
  const std::string batch = timed(lookups, sum, [&] {
    uint64_t all = 0;
    for (size_t at = 0; at < lookups; at += kBatch) {
      const size_t some = std::min(kBatch, lookups - at);
      for (size_t i = 0; i < some; ++i) slices[i] = {asked[at + i].data(), asked.width};
      db->MultiGet(read, db->DefaultColumnFamily(), some, slices.data(), values.data(), states.data());
      for (size_t i = 0; i < some; ++i) {
        if (states[i].ok()) all += number_in(values[i].data());
        values[i].Reset();
      }
    }
    return all;
  });
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) bytes += entry.file_size();
  printf("{\"name\": \"RocksDB\", \"build_s\": %.2f, \"bytes\": %" PRIu64 ", \"get_ns\": %s, \"batch_ns\": %s, \"sum\": %" PRIu64
         "}\n",
         built, bytes, get.c_str(), batch.c_str(), sum);
  delete db;
}

// Looks keys up in a table that is there.
void table(bool is_text, const Keys& asked, size_t lookups, const std::string& path) {
  const yunti::Table table(path.c_str());
  const size_t column = table.column("value");
  uint64_t sum = 0;
  const auto found = [&](const yunti::TableRow& row) { return row ? row.get<uint64_t>(column) : 0; };
  const std::string get = timed(lookups, sum, [&] {
    uint64_t all = 0;
    for (size_t at = 0; at < lookups; ++at)
      all += is_text ? found(table.find(asked[at])) : found(table.find(number_in(asked[at].data())));
    return all;
  });
  std::vector<uint64_t> numbers(kBatch);
  std::vector<std::string_view> texts(kBatch);
  std::vector<yunti::TableRow> rows(kBatch);
  const std::string batch = timed(lookups, sum, [&] {
    uint64_t all = 0;
    for (size_t at = 0; at < lookups; at += kBatch) {
      const size_t some = std::min(kBatch, lookups - at);
      for (size_t i = 0; i < some; ++i) {
        if (is_text) texts[i] = asked[at + i];
        else numbers[i] = number_in(asked[at + i].data());
      }
      if (is_text) table.find_batch(texts.data(), some, rows.data());
      else table.find_batch(numbers.data(), some, rows.data());
      for (size_t i = 0; i < some; ++i) all += found(rows[i]);
    }
    return all;
  });
  printf("{\"name\": \"Yunti, C++\", \"bytes\": %" PRIuMAX ", \"get_ns\": %s, \"batch_ns\": %s, \"sum\": %" PRIu64 "}\n",
         uintmax_t(std::filesystem::file_size(path)), get.c_str(), batch.c_str(), sum);
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) fail("peers lmdb|rocksdb|yunti KEYS integers|texts LOOKUPS FILE");
  const std::string peer = words[1], path = words[5];
  const size_t rows = strtoull(words[2], nullptr, 10), lookups = strtoull(words[4], nullptr, 10);
  const bool is_text = std::string(words[3]) == "texts";
  const Keys asked(is_text, lookups, [&](uint64_t at) { return mixed(at ^ 0x5555) % (rows + rows / 9); });
  const Keys keys(is_text, peer == "yunti" ? 0 : rows, [](uint64_t at) { return at; });
  if (peer == "lmdb") lmdb(keys, rows, is_text, asked, lookups, path);
  else if (peer == "rocksdb") rocks(keys, rows, asked, lookups, path);
  else table(is_text, asked, lookups, path);
  return 0;
}
