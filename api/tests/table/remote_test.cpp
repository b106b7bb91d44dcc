// Test of yunti::RemoteTable with servers of fake_server.hpp: keys, rows and values; requests under way; shards,
// replicas and idle connections; and hostile servers, which give errors in time and never a crash.
//
//   remote_test [ROUNDS]     rounds of random changes of responses
// SPDX-License-Identifier: Apache-2.0
#include <yunti/table/remote.h>

#include <random>

#include "fake_server.hpp"

using fake::Content;
using fake::Reply;
using fake::Request;
using fake::Server;
using writer::ColumnType;
using writer::Node;
using yunti::RemoteRow;
using yunti::RemoteTable;
using yunti::RemoteTableOptions;

#define CHECK_HAS(text, part)                                                                           \
  do {                                                                                                  \
    const std::string own = (text);                                                                     \
    if (own.find(part) == own.npos) std::fprintf(stderr, "'%s' has no '%s'\n", own.c_str(), part);      \
    CHECK(own.find(part) != own.npos && own.find('\n') == own.npos);                                    \
  } while (0)

// Keys -3, -2, .. with one to three rows each.
static Content users(int64_t count) {
  Content of{{{"id", ColumnType::I64}},
             {{"id", ColumnType::I64},
              {"name", ColumnType::Utf8},
              {"score", ColumnType::F32, true},
              {"tags", ColumnType::List, false, {{"", ColumnType::Utf8, true}}},
              {"place", ColumnType::Record, true, {{"x", ColumnType::I16}, {"note", ColumnType::Bytes}}}}};
  for (int64_t key = -3; key < count - 3; ++key)
    for (int64_t i = 0; i < 1 + (key + 3) % 3; ++i) {
      const Node score = key % 2 == 0 ? Node{true} : Node{false, writer::raw(static_cast<float>(key) / 2)};
      const Node place = key % 4 == 0 ? Node{true} : Node{false, "", {{false, writer::raw(int16_t{-7})}, {false, "n"}}};
      of.rows[writer::raw(key)].push_back({{false, writer::raw(key)},
                                           {false, "user " + std::to_string(key) + "/" + std::to_string(i)},
                                           score,
                                           {false, "", {{false, "a"}, {true}, {false, "bc"}}},
                                           place});
    }
  return of;
}

static bool is_of(const RemoteRow& row, int64_t key) {
  return row && row.get<int64_t>("id") == key && row.text("name") == "user " + std::to_string(key) + "/0";
}

static RemoteTableOptions soon(int timeout_ms) {
  RemoteTableOptions options;
  options.timeout = options.connect_timeout = std::chrono::milliseconds(timeout_ms);
  return options;
}

// Looks up keys -5 .. in one batch, and checks all rows.
static void check_batch(const RemoteTable& table, int64_t count) {
  std::vector<int64_t> keys;
  for (int64_t key = -5; key < count - 1; ++key) keys.push_back(key);
  std::vector<RemoteRow> rows(keys.size());
  CHECK(table.find_batch(keys.data(), keys.size(), rows.data()) == static_cast<size_t>(count));
  for (size_t i = 0; i < keys.size(); ++i)
    CHECK(keys[i] < -3 || keys[i] >= count - 3 ? !rows[i] : is_of(rows[i], keys[i]));
}

static void rows_are_as_in_a_file() {
  RemoteRow kept;
  std::string_view text;
  {
    Server server(users(100), nullptr, true);
    const RemoteTable table("users", {server.address()});
    CHECK(table.column("score") == 2 && table.columns().size() == 5 && table.key_columns()[0].name == "id");
    CHECK(table.has_lists() && table.shard_count() == 1 && *table.name() == "users");
    const RemoteRow row = table.find(5);
    CHECK(is_of(row, 5) && row.get<float>("score") == 2.5f && row.get<double>(2) == 2.5 && !row.is_null("score"));
    const yunti::TableList tags = row.list("tags");
    CHECK(tags.size() == 3 && tags[0].text() == "a" && tags[1].is_null() && tags[2].text() == "bc");
    CHECK(row.record("place").get<int>("x") == -7 && row.record("place").text("note") == "n");
    CHECK(is_of(table.find(int8_t{-3}), -3) && table.find(6).is_null("score") && !table.find(97) && table.contains(96));
    // No column of I64 has it: nothing is sent.
    const int gets = server.gets();
    CHECK(!table.find(UINT64_MAX) && server.gets() == gets);
    const yunti::RemoteRows all = table.find_all(5);
    size_t number = 0;
    for (const yunti::TableRow& one : all) CHECK(one.text(1) == "user 5/" + std::to_string(number++));
    CHECK(number == 3 && all.size() == 3 && !all.empty() && table.find_all(-4).empty());
    CHECK(!(table.find_all(-4).begin() != table.find_all(-4).end()));
    check_batch(table, 100);
    const std::vector<int64_t> twice{4, 4, -9, 4};
    std::vector<RemoteRow> rows(4);
    CHECK(table.find_batch(twice.data(), 4, rows.data()) == 3 && is_of(rows[3], 4) && !rows[2]);
    CHECK(table.find_batch(twice.data(), 0, rows.data()) == 0);
    CHECK_HAS(error_of([&] { table.find("a"); }), "the key of the table is id (i64)");
    CHECK_HAS(error_of([&] { table.find(yunti::TableKey().add(1).add(2)); }), "the key of the table is id (i64)");
    CHECK_HAS(error_of([&] { table.column("none"); }), "no column none");
    CHECK_HAS(error_of([&] { row.get<int16_t>("id"); }), "the column id is i64");
    kept = table.find(7);
    text = kept.text("name");
  }
  CHECK(is_of(kept, 7) && text == "user 7/0");
}

static void keys_of_several_columns_and_texts() {
  Content of{{{"shop", ColumnType::Utf8}, {"day", ColumnType::U32}}, {{"sold", ColumnType::U16}}};
  const Node sold{false, writer::raw(uint16_t{77})};
  of.rows[writer::raw(uint32_t{5}) + "north" + writer::raw(uint64_t{9})] = {{sold}};
  Server server(of);
  const RemoteTable table("shops", {server.address()});
  CHECK(table.find(yunti::TableKey().add("north").add(9)).get<int>(0) == 77);
  const yunti::TableKey keys[] = {yunti::TableKey().add("north").add(9), yunti::TableKey().add("north").add(-1)};
  RemoteRow rows[2];
  CHECK(table.find_batch(keys, 2, rows) == 1 && rows[0] && !rows[1]);
  CHECK_HAS(error_of([&] { table.find("north"); }), "the key of the table is shop (utf8), day (u32)");

  Content texts{{{"name", ColumnType::Utf8}}, {{"sold", ColumnType::U16}}};
  const std::string large(100'000, 'x');
  for (const std::string& key : {std::string("a"), std::string(), large}) texts.rows[key] = {{sold}};
  Server other(texts);
  const RemoteTable by_name(std::nullopt, {other.address()});
  const std::vector<std::string> names{"", "b", large, "a", large, large};
  std::vector<RemoteRow> found(names.size());
  CHECK(by_name.find_batch(names.data(), names.size(), found.data()) == 5 && !found[1] && found[0] && found[4]);
  CHECK(by_name.find("a") && by_name.find(std::string_view()) && !by_name.find("c"));
  CHECK_HAS(error_of([&] { by_name.find(std::string(1 << 24, 'x')); }), "at most 16 MiB");
  CHECK(by_name.find("a"));
}

static void what_is_sent_follows_the_protocol() {
  std::vector<std::string> sent;
  std::mutex mutex;
  Server server(users(3), [&](const Request& request) -> std::optional<Reply> {
    const std::lock_guard<std::mutex> lock(mutex);
    sent.push_back(request.payload);
    return std::nullopt;
  });
  RemoteTableOptions options;
  options.token = "secret";
  options.columns = {"id", "name"};
  const RemoteTable table("users", {server.address()}, options);
  table.find(-1);
  table.find_all(258);
  using fake::string_bytes;
  using writer::raw;
  const std::vector<std::string> expect{
      "YTSV" + raw(uint16_t{2}) + string_bytes("secret"),
      string_bytes("users") + raw(uint16_t{2}) + string_bytes("id") + string_bytes("name"),
      raw(uint32_t{7}) + '\0' + raw(uint32_t{1}) + "\x08" + raw(int64_t{-1}),
      raw(uint32_t{7}) + '\1' + raw(uint32_t{1}) + "\x08" + raw(int64_t{258})};
  CHECK(sent == expect && server.connections() == 1);
}

// A server that answers no request before it has this many.
static void requests_are_under_way_together() {
  std::mutex mutex;
  std::vector<Request> waiting;
  Server* self = nullptr;
  Server server(users(6000), [&](const Request& request) -> std::optional<Reply> {
    if (request.kind != 3) return std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex);
    CHECK(fake::keys_of(request).size() <= 1024);
    waiting.push_back(request);
    if (waiting.size() < 5) return Reply{};
    Reply reply;
    for (const Request& one : waiting) reply.bytes += self->answer(one);
    return reply;
  });
  self = &server;
  const RemoteTable table("users", {server.address()}, soon(3000));
  std::vector<int64_t> keys(5000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
  std::vector<RemoteRow> rows(keys.size());
  CHECK(table.find_batch(keys.data(), keys.size(), rows.data()) == 5000 && server.gets() == 5);
  for (size_t i = 0; i < keys.size(); ++i) CHECK(is_of(rows[i], keys[i]));
}

static uint32_t shard_of(const std::string& key, uint32_t shards) {
  return static_cast<uint32_t>(writer::upper(writer::hash(key, 0), shards));
}

static void shards_work_side_by_side() {
  std::mutex mutex;
  std::condition_variable arrived;
  int waiting = 0;
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<std::string> addresses;
  for (uint32_t shard = 1; shard <= 3; ++shard) {
    Content of = users(2000);
    of.shard = shard;
    of.shards = 3;
    servers.push_back(std::make_unique<Server>(of, [&, shard](const Request& request) -> std::optional<Reply> {
      if (request.kind != 3) return std::nullopt;
      for (const std::string& key : fake::keys_of(request)) CHECK(shard_of(key, 3) + 1 == shard);
      // No server answers before each has a request.
      std::unique_lock<std::mutex> lock(mutex);
      ++waiting;
      arrived.notify_all();
      CHECK(arrived.wait_for(lock, std::chrono::seconds(10), [&] { return waiting >= 3; }));
      return std::nullopt;
    }));
    addresses.push_back(servers.back()->address());
  }
  const RemoteTable table("users", addresses);
  CHECK(table.shard_count() == 3);
  check_batch(table, 2000);
  CHECK_HAS(error_of([&] { RemoteTable("users", {addresses[0], addresses[2]}); }), "no server has the shard 2 of 3");

  // A server with the whole table stands in for a shard that is gone.
  Server whole(users(2000));
  servers[1]->stop();
  CHECK_HAS(error_of([&] { check_batch(table, 2000); }), addresses[1].c_str());
  addresses.push_back(whole.address());
  const RemoteTable other("users", addresses);
  check_batch(other, 2000);
  CHECK(whole.gets() > 0);

  Content odd = users(1);
  odd.shards = 2;
  Server wrong(odd);
  addresses.push_back(wrong.address());
  CHECK_HAS(error_of([&] { RemoteTable("users", addresses); }), "has a shard of 2, others of 3");
}

// Servers of two shards, whose files are whole, and what they stand in for.
static void whole_files_stand_in_for_other_shards() {
  Content first = users(4000), second = first;
  first.shards = second.shards = 2;
  second.shard = 2;
  first.is_whole = true;
  // The server of the second shard ends behind its first rows: in the middle of a batch, and of a lookup.
  std::atomic<bool> is_ending{false};
  const auto end = [&](const Request& request) -> std::optional<Reply> {
    if (request.kind == 3 && is_ending && request.position > 2) return Reply{"", true};
    return std::nullopt;
  };
  Server whole(first), part(second, end);
  {
    const RemoteTable table("users", {whole.address(), part.address()});
    CHECK(table.shard_count() == 2);
    check_batch(table, 4000);
    const int gets = whole.gets();
    int64_t of_second = 0;
    while (shard_of(writer::raw(of_second), 2) != 1) ++of_second;
    CHECK(is_of(table.find(of_second), of_second) && whole.gets() == gets);
    is_ending = true;
    for (int i = 0; i < 3; ++i) check_batch(table, 4000);
    for (int64_t key = 0; key < 20; ++key) CHECK(is_of(table.find(key), key));
    CHECK(whole.gets() > gets);
  }
  part.stop();
  const RemoteTable alone("users", {whole.address()});
  CHECK(alone.shard_count() == 2);
  check_batch(alone, 4000);
  const RemoteTable table("users", {part.address(), whole.address()});
  check_batch(table, 4000);
  for (int64_t key = 0; key < 20; ++key) CHECK(is_of(table.find(key), key));

  // A whole file that becomes one part alone stands in for nothing.
  whole.set([](Content& of) { of.is_whole = false; });
  whole.close_connections();
  CHECK_HAS(error_of([&] { check_batch(table, 4000); }), part.address().c_str());
  CHECK_HAS(error_of([&] { RemoteTable("users", {whole.address()}); }), "no server has the shard 2 of 2");
}

static void counters_of_each_server() {
  Server one(users(5));
  Server other(users(5), [](const Request& request) -> std::optional<Reply> {
    if (request.kind != 4) return std::nullopt;
    return Reply{fake::frame(request.number, 4, "no page")};
  });
  const std::vector<std::string> addresses{one.address(), other.address(), "unix:/nowhere"};
  const RemoteTable table("users", addresses);
  const std::vector<yunti::ServerCounters> found = table.server_counters();
  CHECK(found.size() == 3 && found[0].address == addresses[0] && found[0].error.empty());
  CHECK((found[0].counters == std::map<std::string, double>{{"a{b=\"c d\"}", 12}, {"f", 0.5}}));
  CHECK(found[1].counters.empty() && found[2].counters.empty());
  CHECK_HAS(found[1].error, "its counters are no page for Prometheus");
  CHECK_HAS(found[1].error, addresses[1].c_str());
  CHECK_HAS(found[2].error, "cannot connect to the table server unix:/nowhere");
  for (const char* page : {"a", " ", "a x", "a 1 x", "a 1x"}) {
    Server wrong(users(5), [&](const Request& request) -> std::optional<Reply> {
      if (request.kind != 4) return std::nullopt;
      return Reply{fake::frame(request.number, 4, page)};
    });
    CHECK_HAS(RemoteTable("users", {wrong.address()}).server_counters()[0].error, "no page for Prometheus");
  }
}

static void replicas_take_over() {
  // The first server closes each connection behind its first rows; the second is right.
  Server bad(users(5000), [](const Request& request) -> std::optional<Reply> {
    if (request.kind == 3 && request.position > 2) return Reply{"", true};
    return std::nullopt;
  });
  Server good(users(5000));
  for (int turn = 0; turn < 2; ++turn) {
    const RemoteTable table("users", {bad.address(), good.address()});
    for (int i = 0; i < 3; ++i) check_batch(table, 5000);
    for (int64_t key = 0; key < 20; ++key) CHECK(is_of(table.find(key), key));
  }
  const RemoteTable alone("users", {bad.address()});
  CHECK_HAS(error_of([&] { check_batch(alone, 5000); }), "closed the connection");
  CHECK_HAS(error_of([&] { check_batch(alone, 5000); }), bad.address().c_str());

  // Servers that are down when the table opens, and up later.
  bad.stop();
  const RemoteTable table("users", {bad.address(), good.address()});
  check_batch(table, 5000);
  good.stop();
  bad.start();
  for (int64_t key = 0; key < 3; ++key) CHECK(is_of(table.find(key), key));
  bad.stop();
  CHECK_HAS(error_of([&] { table.find(1); }), "cannot connect to the table server");
  good.start();
  CHECK(is_of(table.find(1), 1));

  // A server with as many connections as it may have.
  Server full(users(1), [](const Request&) { return Reply{fake::refusal(0, 7, "too many"), true}; });
  CHECK(is_of(RemoteTable("users", {full.address(), good.address()}).find(2), 2));
  CHECK_HAS(error_of([&] { RemoteTable("users", {full.address()}); }), "refuses: too many");
}

static void idle_connections_may_have_been_closed() {
  Server server(users(10));
  const RemoteTable table("users", {server.address()});
  for (int i = 0; i < 3; ++i) {
    CHECK(is_of(table.find(1), 1) && server.connections() == i + 1);
    server.close_connections();
  }
  server.stop();
  server.start();
  CHECK(is_of(table.find(1), 1) && server.connections() == 4);
}

static void a_new_version_is_opened_again() {
  Server server(users(10));
  const RemoteTable table("users", {server.address()});
  CHECK(table.reopen() == nullptr);
  server.set([](Content& content) {
    content = users(20);
    content.version = 2;
  });
  const std::unique_ptr<RemoteTable> next = table.reopen();
  CHECK(next != nullptr && next->reopen() == nullptr && is_of(next->find(16), 16));
  server.set([](Content& content) { content.cols.pop_back(); });
  server.close_connections();
  CHECK_HAS(error_of([&] { table.find(1); }), "has other columns: open the RemoteTable again");
}

static void threads_share_a_table() {
  Server server(users(1000));
  const RemoteTable table("users", {server.address()});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 100; ++i) CHECK(is_of(table.find(i + t), i + t));
      check_batch(table, 1000);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(server.connections() <= 8);
}

static void long_responses_are_halved() {
  Server server(users(3000), [](const Request& request) -> std::optional<Reply> {
    if (request.kind != 3 || fake::keys_of(request).size() <= 100) return std::nullopt;
    return Reply{fake::refusal(request.number, 5, "the response is too long")};
  });
  const RemoteTable table("users", {server.address()});
  check_batch(table, 3000);
  CHECK(server.connections() == 1);
  Server never(users(5), [](const Request& request) -> std::optional<Reply> {
    if (request.kind != 3) return std::nullopt;
    return Reply{fake::refusal(request.number, 5, "the response is too long")};
  });
  const RemoteTable none("users", {never.address()});
  CHECK_HAS(error_of([&] { check_batch(none, 5); }), "give fewer columns");
}

static void refusals_have_one_line() {
  for (const auto& [code, part] : std::initializer_list<std::pair<uint16_t, const char*>>{
           {1, "refuses: two  lines"}, {2, "set the option token"}, {3, "refuses: two"}, {6, "refuses"}, {99, "refuses"}}) {
    Server server(users(5), [code = code](const Request& request) -> std::optional<Reply> {
      if (code <= 2 || request.kind == 3) return Reply{fake::refusal(request.number, code, "two\r\nlines"), code <= 2};
      return std::nullopt;
    });
    const std::string error = error_of([&] { RemoteTable("users", {server.address()}).find(1); });
    CHECK_HAS(error, part);
    CHECK_HAS(error, server.address().c_str());
  }
  Server several(users(5), [](const Request& request) -> std::optional<Reply> {
    if (request.kind != 1) return std::nullopt;
    const std::string names = fake::string_bytes("a") + fake::string_bytes("b");
    return Reply{fake::frame(request.number, 1, writer::raw(uint16_t{2}) + writer::raw(uint16_t{2}) + names)};
  });
  CHECK_HAS(error_of([&] { RemoteTable(std::nullopt, {several.address()}); }), "has 2 tables: give the name of one: a, b");
  CHECK(is_of(RemoteTable("b", {several.address()}).find(1), 1));
}

static void wrong_options() {
  for (const char* address : {"", "unix:", "host", "host:", ":7070", "host:70000", "host:0", "host:7x"})
    CHECK_HAS(error_of([&] { RemoteTable("users", {address}); }), "is no address of a table server");
  CHECK_HAS(error_of([] { RemoteTable("", {"unix:/a"}); }), "the name of the table is empty");
  CHECK_HAS(error_of([] { RemoteTable("users", {}); }), "needs the address of a server");
  CHECK_HAS(error_of([] { RemoteTable("users", {"unix:/nowhere/socket"}); }),
            "cannot connect to the table server unix:/nowhere/socket: No such file");
  CHECK_HAS(error_of([] { RemoteTable("users", {"unix:" + std::string(200, 'x')}); }), "at most 107 bytes");
  CHECK_HAS(error_of([] { RemoteTable("users", {"[::1]:1"}); }), "cannot connect to the table server [::1]:1");
  CHECK_HAS(error_of([] { RemoteTable("users", {"unix:/a"}, soon(0)); }), "must be above 0");
  Server server(users(1));
  RemoteTableOptions options;
  options.token = std::string(70'000, 'x');
  CHECK_HAS(error_of([&] { RemoteTable("users", {server.address()}, options); }), "at most 65,535 bytes");
  RemoteTableOptions tls;
  tls.tls_ca = "/nowhere.pem";
#ifdef YUNTI_TABLE_OPENSSL
  CHECK_HAS(error_of([&] { RemoteTable("users", {server.address()}, tls); }), "cannot read the certificates");
#else
  CHECK_HAS(error_of([&] { RemoteTable("users", {server.address()}, tls); }), "-DYUNTI_TABLE_OPENSSL");
#endif
}

static void slow_servers_are_left() {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> is_over{false};
  Server slow(users(100), [&](const Request& request) -> std::optional<Reply> {
    if (request.kind != 3) return std::nullopt;
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::nullopt;
  });
  Server good(users(100));
  {
    const RemoteTable alone("users", {slow.address()}, soon(100));
    const std::string error = error_of([&] { alone.find(1); });
    CHECK_HAS(error, "does not answer within 100 ms");
    CHECK_HAS(error, slow.address().c_str());
    const RemoteTable table("users", {slow.address(), good.address()}, soon(100));
    for (int i = 0; i < 3; ++i) check_batch(table, 100);
  }
  is_over = true;
  // A head that claims 16 MiB.
  Server large(users(1), [](const Request& request) -> std::optional<Reply> {
    if (request.kind != 3) return std::nullopt;
    return Reply{writer::raw(uint32_t{1} << 24) + writer::raw(request.number) + "\3abc"};
  });
  const RemoteTable stuck("users", {large.address()}, soon(100));
  CHECK_HAS(error_of([&] { stuck.find(1); }), "does not answer within 100 ms");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

// A server that sends its responses byte by byte, and never ends them in time.
static void drops_do_not_hold_a_deadline_off() {
  const std::string path = "/tmp/yunti-remote-drops-" + std::to_string(getpid());
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  path.copy(place.sun_path, sizeof place.sun_path - 1);
  unlink(path.c_str());
  CHECK(bind(listener, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 && listen(listener, 1) == 0);
  std::thread server([&] {
    const int client = accept(listener, nullptr, nullptr);
    const std::string response = fake::frame(1, 1, std::string(1000, 'x'));
    for (const char byte : response) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (send(client, &byte, 1, MSG_NOSIGNAL) != 1) break;
    }
    close(client);
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK_HAS(error_of([&] { RemoteTable("users", {"unix:" + path}, soon(150)); }), "does not answer within 150 ms");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  server.join();
  close(listener);
  unlink(path.c_str());
}

static void functions_in_c() {
  Server server(users(10));
  yunti_table_error error;
  yunti_table_row row, rows_of[3];
  int64_t number;
  const char* text;
  uint64_t bytes;
  CHECK(yunti_remote_open("users", "unix:/nowhere", nullptr, &error) == nullptr);
  CHECK_HAS(error.text, "cannot connect to the table server unix:/nowhere");
  yunti_remote_options options{};
  CHECK(yunti_remote_open("users", "unix:/nowhere", &options, nullptr) == nullptr);
  options.size = sizeof options;
  options.timeout_ms = options.connect_timeout_ms = 2000;
  options.columns = "id,name";
  const std::string addresses = "unix:/nowhere," + server.address();
  yunti_remote_table* table = yunti_remote_open("users", addresses.c_str(), &options, &error);
  CHECK(table != nullptr && yunti_remote_column_count(table) == 5 && yunti_remote_column(table, "name") == 1);
  CHECK(std::string(yunti_remote_column_name(table, 1)) == "name" && yunti_remote_column_name(table, -1) == nullptr);
  CHECK(std::string(yunti_remote_column_type(table, 1)) == "utf8" && yunti_remote_column(table, "none") == -1);
  yunti_remote_rows* rows = yunti_remote_rows_new();
  CHECK(yunti_remote_get_i64(table, 99, rows, &row, &error) == 0 && row.fields == nullptr);
  CHECK(yunti_remote_get_u64(table, 5, rows, &row, nullptr) == 1);
  CHECK(yunti_table_row_text(&row, 1, &text, &bytes, &error) == 1 && std::string(text, bytes) == "user 5/0");
  CHECK(yunti_remote_get_bytes(table, "a", 1, rows, &row, &error) == -1);
  CHECK_HAS(error.text, "the key of the table is id (i64)");
  const int64_t keys[] = {-3, 77, 2};
  CHECK(yunti_remote_get_batch_i64(table, keys, 3, rows, rows_of, &error) == 2 && rows_of[1].fields == nullptr);
  CHECK(yunti_table_row_i64(&rows_of[2], 0, &number, &error) == 1 && number == 2);
  const void* texts[] = {"a"};
  const uint64_t lengths[] = {1};
  CHECK(yunti_remote_get_batch_bytes(table, texts, lengths, 1, rows, rows_of, &error) == -1);
  yunti_table_key* key = yunti_table_key_new();
  CHECK(yunti_table_key_add_i64(key, 5, &error) == 0 && yunti_remote_get_key(table, key, rows, &row, &error) == 1);
  CHECK(yunti_remote_get_all(table, key, rows, &error) == 3);
  CHECK(yunti_remote_server_count(table) == 2 && yunti_remote_server_address(table, 1) == server.address());
  CHECK(yunti_remote_server_address(table, 2) == nullptr && yunti_remote_server_address(table, -1) == nullptr);
  double sum = 0;
  const auto take = [](void* to, const char*, double value) { *static_cast<double*>(to) += value; };
  CHECK(yunti_remote_counters(table, 1, take, &sum, &error) == 2 && sum == 12.5);
  CHECK(yunti_remote_counters(table, 0, take, &sum, &error) == -1 && sum == 12.5);
  CHECK_HAS(error.text, "cannot connect to the table server unix:/nowhere");
  CHECK(yunti_remote_counters(table, 2, take, &sum, &error) == -1);
  CHECK_HAS(error.text, "has no server 2");
  CHECK(yunti_remote_open("", "unix:/nowhere", &options, &error) == nullptr);
  CHECK_HAS(error.text, "the name of the table is empty");
  CHECK(yunti_remote_reopen(table, &error) == nullptr && error.text[0] == '\0');
  yunti_remote_close(table);
  for (int i = 0; i < 3; ++i) CHECK(yunti_remote_next(rows, &row) == 1 && yunti_table_row_column(&row, "name") == 1);
  CHECK(yunti_remote_next(rows, &row) == 0 && row.fields == nullptr && yunti_remote_next(rows, &row) == 0);
  yunti_table_key_free(key);
  yunti_remote_rows_free(rows);
}

// Reads every byte of a value that a hostile server may have sent.
static size_t read(const yunti::TableValue& value) {
  if (value.is_null()) return 0;
  size_t sum = 0;
  if (value.type() == ColumnType::Record) {
    const yunti::TableRow record = value.record();
    for (size_t i = 0; i < record.columns().size(); ++i) sum += read(record.value(i));
  } else if (value.type() == ColumnType::List) {
    for (const yunti::TableValue& element : value.list()) sum += read(element);
  } else {
    for (const char c : value.bytes()) sum += static_cast<unsigned char>(c);
  }
  return sum;
}

// Opens a table whose server answers a kind of request by these bytes behind the frame's head; returns the error.
static std::string with_reply(int kind, const std::function<std::string(const Request&, Server&)>& bytes_of) {
  Server* self = nullptr;
  Server server(users(5), [&](const Request& request) -> std::optional<Reply> {
    if (request.kind != kind) return std::nullopt;
    return Reply{bytes_of(request, *self), true};
  });
  self = &server;
  return error_of([&] {
    const RemoteTable table("users", {server.address()}, soon(1000));
    size_t sum = 0;
    const int64_t keys[] = {1, 2, 99};
    RemoteRow rows[3];
    table.find_batch(keys, 3, rows);
    for (const RemoteRow& row : rows)
      for (size_t i = 0; row && i < row.columns().size(); ++i) sum += read(row.value(i));
    for (const yunti::TableRow& row : table.find_all(2))
      for (size_t i = 0; i < row.columns().size(); ++i) sum += read(row.value(i));
    CHECK(sum > 0);
  });
}

static std::string with_payload(int kind, const std::string& payload) {
  return with_reply(kind, [&](const Request& request, Server&) { return fake::frame(request.number, kind, payload); });
}

static void hostile_responses() {
  using writer::leb;
  using writer::raw;
  for (const uint32_t length : {0u, 4u, (1u << 24) + 1, UINT32_MAX})
    for (int kind = 1; kind <= 3; ++kind)
      CHECK_HAS(with_reply(kind, [&](const Request&, Server&) { return raw(length); }),
                ("is no table server (a frame of " + std::to_string(length) + " bytes)").c_str());
  // Responses that end at each byte.
  for (int kind = 1; kind <= 3; ++kind) {
    for (size_t bytes = 0, all = 1; bytes < all; bytes += bytes < 30 ? 1 : 13) {
      const std::string error = with_reply(kind, [&](const Request& request, Server& server) {
        const std::string whole = server.answer(request);
        all = whole.size();
        return whole.substr(0, bytes);
      });
      CHECK_HAS(error, "closed the connection");
    }
    CHECK_HAS(with_reply(kind, [&](const Request& request, Server&) { return fake::frame(request.number + 1, kind, ""); }),
              "a response to no request");
    CHECK_HAS(with_reply(kind, [&](const Request& request, Server&) { return fake::frame(request.number, 4, ""); }),
              "a response to no request");
    CHECK_HAS(with_reply(kind, [&](const Request& request, Server&) { return fake::frame(request.number, 0, "x"); }),
              "a message is cut");
    CHECK_HAS(with_payload(kind, ""), "is no table server");
  }
  CHECK_HAS(with_payload(1, raw(uint16_t{1}) + raw(uint16_t{0})), "it speaks another version");
  CHECK_HAS(with_payload(1, raw(uint16_t{2}) + raw(uint16_t{65535})), "a message is cut");
  CHECK_HAS(with_payload(1, raw(uint16_t{2}) + raw(uint16_t{0}) + "x"), "a message is too long");

  const auto opened = [](const std::function<void(Content&)>& change) {
    Content content = users(5);
    change(content);
    return with_payload(2, content.opened());
  };
  CHECK_HAS(opened([](Content& of) { of.shard = 0; }), "its shard is none");
  CHECK_HAS(opened([](Content& of) { of.shard = 2; }), "its shard is none");
  CHECK_HAS(opened([](Content& of) { of.shards = UINT32_MAX; }), "its shard is none");
  CHECK_HAS(opened([](Content& of) {
              of.shards = UINT32_MAX;
              of.is_whole = true;
            }),
            "its shard is none");
  CHECK_HAS(opened([](Content& of) { of.shards = 1 << 16; }), "no server has the shard 2 of 65536");
  CHECK_HAS(opened([](Content& of) { of.key.clear(); }), "it has no key");
  CHECK_HAS(opened([](Content& of) { of.key[0].type = ColumnType::F32; }), "its key is none");
  CHECK_HAS(opened([](Content& of) { of.key[0].type = static_cast<ColumnType>(99); }), "its key is none");
  CHECK_HAS(opened([](Content& of) { of.cols[1].type = ColumnType::Dict; }), "a column where none can be");
  CHECK_HAS(opened([](Content& of) { of.cols[1].type = static_cast<ColumnType>(16); }), "an unknown type");
  CHECK_HAS(opened([](Content& of) {
              for (int depth = 0; depth < 20; ++depth) of.cols[1] = {"", ColumnType::List, false, {of.cols[1]}};
            }),
            "a column where none can be");
  CHECK_HAS(opened([](Content& of) {
              for (writer::Col& col : of.cols) col = {"r", ColumnType::Record, false, {65535, {"", ColumnType::Bool}}};
            }),
            "too many columns");
  CHECK_HAS(with_payload(2, users(5).opened() + "x"), "its schema is too long");

  const std::string row = leb(3) + "abc", none = leb(0);
  const auto bad = [&](const std::string& payload) { CHECK_HAS(with_payload(3, payload), "is no table server"); };
  bad(none + none);
  bad(none + none + none + none);
  bad(leb(2) + row + row + none + none);
  bad(leb(1) + leb(4) + "abc");
  bad(leb(1) + leb(UINT32_MAX) + "abc");
  bad(leb(UINT32_MAX) + row + none + none);
  bad(std::string(6, '\x80'));
  bad(std::string(10, '\xff'));
  // Rows are read when the program uses them.
  CHECK_HAS(with_payload(3, leb(1) + row + none + none), "a row is cut");
  CHECK_HAS(with_payload(3, leb(1) + leb(0) + none + none), "a row is cut");
}

// Changes bytes of right responses behind their head: whatever comes is a row or an error.
static void random_changes(int rounds) {
  std::mt19937_64 random_bits(7);
  int errors = 0;
  for (int round = 0; round < rounds; ++round) {
    const int kind = 1 + round % 3;
    errors += !with_reply(kind, [&](const Request& request, Server& server) {
                 std::string bytes = server.answer(request);
                 for (uint64_t n = 1 + random_bits() % 3; n > 0; --n) {
                   const size_t at = round % 4 == 0 ? random_bits() % bytes.size() : 9 + random_bits() % (bytes.size() - 9);
                   bytes[at] = static_cast<char>(random_bits() % 2 == 0 ? random_bits() : bytes[at] ^ 1 << random_bits() % 8);
                 }
                 return bytes;
               }).empty();
  }
  CHECK(rounds == 0 || errors > rounds / 3);
}

int main(int count, char** arguments) {
  rows_are_as_in_a_file();
  keys_of_several_columns_and_texts();
  what_is_sent_follows_the_protocol();
  requests_are_under_way_together();
  shards_work_side_by_side();
  whole_files_stand_in_for_other_shards();
  counters_of_each_server();
  replicas_take_over();
  idle_connections_may_have_been_closed();
  a_new_version_is_opened_again();
  threads_share_a_table();
  long_responses_are_halved();
  refusals_have_one_line();
  wrong_options();
  slow_servers_are_left();
  drops_do_not_hold_a_deadline_off();
  functions_in_c();
  hostile_responses();
  random_changes(count == 2 ? std::atoi(arguments[1]) : 300);
  std::puts("remote_test: ok");
}
