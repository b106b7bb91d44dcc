// Test of words, lines and fields against byte loops, on random texts of all lengths around 64, with every separator,
// at a guard page. Compiled several times: SSE2, AVX2 and without SIMD.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <yunti/yunti.hpp>

#include "mock_host.hpp"

using Strings = std::vector<std::string>;

static Strings plain_words(std::string_view s) {
  Strings out;
  for (size_t i = 0; i < s.size();) {
    const size_t a = s.find_first_not_of(" \t\n\r\f", i);
    if (a == std::string_view::npos) break;
    const size_t b = std::min(s.find_first_of(" \t\n\r\f", a), s.size());
    out.emplace_back(s.substr(a, b - a));
    i = b;
  }
  return out;
}

static Strings plain_lines(std::string_view s) {
  Strings out;
  for (size_t i = 0; i < s.size();) {
    const size_t e = std::min(s.find_first_of("\r\n", i), s.size());
    out.emplace_back(s.substr(i, e - i));
    i = e + 1;
    if (e < s.size() && s[e] == '\r' && i < s.size() && s[i] == '\n') ++i;
  }
  return out;
}

static Strings plain_fields(std::string_view s, char d) {
  Strings out;
  for (;;) {
    const size_t e = s.find(d);
    out.emplace_back(s.substr(0, e));
    if (e == std::string_view::npos) return out;
    s.remove_prefix(e + 1);
  }
}

static void check_text(const std::string& text) {
  mock::Guarded bytes(text.size());
  std::memcpy(bytes.p, text.data(), text.size());
  const std::string_view s(reinterpret_cast<const char*>(bytes.p), text.size());
  const auto collect = [](Strings& into) { return [&into](std::string_view v) { into.emplace_back(v); }; };
  Strings a, b, l, f, kv, want_kv;
  yunti::words(s, collect(a));
  yunti::detail::long_words(mock::edges, s, collect(b));
  CHECK(a == plain_words(s));
  CHECK(b == a);
  yunti::lines(s, collect(l));
  CHECK(l == plain_lines(s));
  yunti::split(s, '\t', collect(f));
  CHECK(f == plain_fields(s, '\t'));
  for (size_t i = 0; i < f.size(); ++i) CHECK(yunti::field(s, '\t', i) == std::string_view(f[i]));
  CHECK(!yunti::field(s, '\t', f.size()));
  yunti::key_values(s, '\t', [&](std::string_view k, std::string_view v) {
    kv.emplace_back(k);
    kv.emplace_back(v);
    kv.push_back(v.data() ? "1" : "0");
  });
  for (const std::string& line : l) {
    const size_t t = line.find('\t');
    want_kv.push_back(line.substr(0, t));
    want_kv.push_back(t == std::string::npos ? "" : line.substr(t + 1));
    want_kv.push_back(t == std::string::npos ? "0" : "1");
  }
  CHECK(kv == want_kv);
}

static void texts() {
  for (const char* s : {"", " ", "a", "a b", " a  b ", "\r\n", "\r\r\n\n", "a\r", "a\r\n\r\nb", "\v", "a\vb\fc", "\t",
      "k\tv", "k\tv\tw\n\t\n"}) check_text(s);
  std::string all;
  for (int i = 0; i < 256; ++i) all += {static_cast<char>(i), 'x'};
  check_text(all);
  std::mt19937 random(7);
  const std::string separators = " \t\n\r\f", others = std::string("ab\v\0\x7f\x80\x89\xa0\xff", 9) + "\x08\x0e!";
  for (int round = 0; round < 8000; ++round) {
    const auto dense = 1 + random() % 12;
    std::string s(random() % 300, 0);
    for (char& c : s) c = random() % dense == 0 ? separators[random() % 5] : others[random() % others.size()];
    check_text(s);
  }
  std::string longer;  // longer than the pieces of the engine's masks
  while (longer.size() < 70000) longer += std::string(1 + random() % 200, 'w') + separators[random() % 5];
  for (size_t cut : {16383, 16384, 16385, 32768, 65536, 70000}) check_text(longer.substr(0, cut));
  check_text(std::string(40000, 'w'));
}

static void check_number(const std::string& s, bool good, int64_t want) {
  const std::unique_ptr<char[]> exact(new char[s.size()]);  // for the sanitizers: no bytes after it
  std::copy(s.begin(), s.end(), exact.get());
  const auto got = yunti::parse_i64({exact.get(), s.size()});
  if (got.has_value() != good || (good && *got != want)) std::fprintf(stderr, "parse_i64(\"%s\")\n", s.c_str());
  CHECK(got.has_value() == good && (!good || *got == want));
}

static void numbers() {
  for (const char* s : {"", "-", "+", "--1", "+-1", " 1", "1 ", "1a", "a", "12345678a", "1234567:", "/2345678",
      "9223372036854775808", "-9223372036854775809",
                        "99999999999999999999", "12345678901234567890123", "1\xb1"})
    check_number(s, false, 0);
  check_number("9223372036854775807", true, INT64_MAX);
  check_number("-9223372036854775808", true, INT64_MIN);
  check_number("+0", true, 0);
  check_number("-0", true, 0);
  check_number("0000000000000000000000042", true, 42);
  check_number("00000000000000000000000000", true, 0);
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const int64_t v = static_cast<int64_t>(random()) >> random() % 64;
    check_number(std::to_string(v), true, v);
    std::string s = std::to_string(v), digits = "0123456789";
    s[random() % s.size()] = static_cast<char>(random());
    const size_t sign = s[0] == '-' || s[0] == '+';
    const bool good = s.size() > sign && std::all_of(s.begin() + static_cast<long>(sign), s.end(),
        [](char c) { return c >= '0' && c <= '9'; });
    if (good && s.size() < 18) check_number(s, true, std::stoll(s));
    if (!good) check_number(s, false, 0);
  }
}

int main() {
  texts();
  numbers();
  std::puts("text_test: ok");
}
