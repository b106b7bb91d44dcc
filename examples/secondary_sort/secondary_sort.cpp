// Secondary sort as a class library: pairs of numbers, grouped by the left one and sorted by both. It prints the same
// as Hadoop's example of this name.
// SPDX-License-Identifier: Apache-2.0
#include <yunti/yunti.hpp>

#include <string>

namespace {

// Mapper from lines `left right` to composite keys, which sort by both numbers; the value is the right number.
struct Pairs : yunti::Mapper<yunti::Bytes, int32_t> {
  void map(std::string_view line, Out& out) {
    int32_t pair[2] = {0, 0};
    int n = 0;
    yunti::words(line, [&](std::string_view word) {
      const auto number = yunti::parse_i64(word);
      if (!number || *number < INT32_MIN || *number > INT32_MAX)
        yunti::fail("not a number of 32 bits: " + std::string(word));
      if (n < 2) pair[n++] = static_cast<int32_t>(*number);
    });
    if (n == 0) return;  // an empty line
    yunti::OrderedKey key;
    key.number(pair[0]).number(pair[1]);
    out.emit(key.bytes(), pair[1]);
  }
};

// Key order that keeps this order; all pairs with one left number are a group.
struct ByLeft : yunti::KeyOrder<> {
  static constexpr bool groups = true;

  void arrange(std::string_view key, yunti::OrderedKey& form) {
    yunti::OrderedKeyReader parts(key);
    parts.number<int32_t>();
    form.raw(key.substr(0, parts.position())).group().raw(key.substr(parts.position()));
  }
};

// Reducer that prints a separator line before each group, then its pairs in order.
struct Print : yunti::Reducer<yunti::Bytes, yunti::None, int32_t> {
  void reduce(std::string_view key, yunti::Values<int32_t>& rights, Out& out) {
    const std::string left = std::to_string(yunti::OrderedKeyReader(key).number<int32_t>()) + '\t';
    out.emit("------------------------------------------------");
    for (int32_t right : rights) out.emit(left + std::to_string(right));
  }
};

}  // namespace

YUNTI_LIBRARY("SecondarySort", "1.0",
              yunti::mapper<Pairs>("SecondarySort.Pairs"),
              yunti::key_order<ByLeft>("SecondarySort.ByLeft"),
              yunti::reducer<Print>("SecondarySort.Print"))
