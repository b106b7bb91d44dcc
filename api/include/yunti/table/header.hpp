// The first 4096 bytes of a table: its numbers, and the places of its sections (docs/formats/ytab.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "file.hpp"

namespace yunti {
namespace table {

// Numbers of the header. What they say fits together and into the file.
struct Header {
  static constexpr uint64_t bytes = 4096;
  static constexpr uint32_t version = 2;
  static constexpr uint64_t group = 16;  // slots
  static constexpr uint64_t fence = 64;  // keys

  bool is_multi, is_ordered;
  uint64_t keys, rows, seed;
  uint32_t parts, buckets, slots, row_bytes, end_bytes;
  Place schema, pilots, used, groups, row_data, dictionaries, order, fences, sums;

  uint64_t all_slots() const { return uint64_t{parts} * slots; }
  // True if rows are found by their groups, not at multiples of their length.
  bool is_grouped() const { return end_bytes != 0; }
  // Bytes of a group in section 3: its base, 16 begins, and the last end.
  uint64_t group_bytes() const { return 8 + (group + 1) * end_bytes; }
  // Bytes of a slot's number in section 6.
  uint64_t order_bytes() const { return all_slots() > UINT32_MAX ? 8 : 4; }

  explicit Header(const File& file) {
    const auto u32 = [&](uint64_t at) { return yunti::detail::load<uint32_t>(file.at(at)); };
    const auto u64 = [&](uint64_t at) { return yunti::detail::load<uint64_t>(file.at(at)); };
    const auto refuse = [&](const char* what) { damaged(what + (": " + file.path())); };
    if (file.size() < 8 || std::memcmp(file.at(0), "YTAB\x89\r\n\x1a", 8) != 0)
      throw Error("this is no table of yunti table build: " + file.path());
    if (file.size() < bytes) refuse("it is cut");
    const std::string its = "the table has version " + std::to_string(u32(8));
    if (u32(8) < version) throw Error(its + ": build it again with this version of yunti table build: " + file.path());
    if (u32(8) > version)
      throw Error(its + ", this program reads " + std::to_string(version) + ": " + file.path());
    if (detail::checksum_of(file.at(0), bytes - 4) != u32(bytes - 4)) refuse("the checksum of its header is wrong");
    const uint32_t flags = u32(12);
    if (flags > 3) throw Error("the table has flags that this program does not know: " + file.path());
    is_multi = (flags & 1) != 0;
    is_ordered = (flags & 2) != 0;
    keys = u64(16);
    rows = u64(24);
    seed = u64(32);
    parts = u32(40);
    buckets = u32(44);
    slots = u32(48);
    row_bytes = u32(52);
    end_bytes = u32(56);
    Place* const sections[] = {&schema, &pilots, &used, &groups, &row_data, &dictionaries, &order, &fences, &sums};
    uint64_t free = bytes;
    for (int i = 0; i < 9; ++i) {
      *sections[i] = {u64(64 + 16 * i), u64(72 + 16 * i)};
      const Place& place = *sections[i];
      if (place.begin < free || place.begin % 8 != 0) refuse("its sections overlap");
      if (place.begin > file.size() || place.bytes > file.size() - place.begin) refuse("it is cut");
      free = place.end();
    }
    if (free != file.size()) refuse("it has bytes behind its last section");
    if (!fits()) refuse("its header contradicts itself");
  }

 private:
  bool fits() const {
    const uint64_t all = all_slots(), all_groups = all / group + (all % group != 0);
    const bool has_parts = parts != 0;
    if (has_parts ? buckets == 0 || slots == 0 : buckets != 0 || slots != 0 || keys != 0) return false;
    if ((buckets & (buckets - 1)) != 0 && buckets != 0) return false;
    if (keys > all || rows < keys || (!is_multi && rows != keys)) return false;
    if ((end_bytes != 0 && end_bytes != 2 && end_bytes != 4) || (is_multi && row_bytes != 0)) return false;
    // An empty table may have neither.
    if ((row_bytes != 0) == (end_bytes != 0) && (has_parts || row_bytes != 0)) return false;
    const auto is = [](const Place& place, uint64_t count, uint64_t each) {
      return place.bytes % each == 0 && place.bytes / each == count;
    };
    const bool rows_fit = is_grouped()       ? used.bytes == 0 && is(groups, all_groups, group_bytes())
                          : row_bytes != 0 ? is(used, all / 64 + (all % 64 != 0), 8) && groups.bytes == 0 &&
                                                 is(row_data, all, row_bytes)
                                           : used.bytes == 0 && groups.bytes == 0 && row_data.bytes == 0;
    const uint64_t ordered = is_ordered ? keys : 0;
    return rows_fit && is(pilots, uint64_t{parts} * buckets, 1) && is(order, ordered, order_bytes()) &&
           is(fences, ordered / fence + (ordered % fence != 0), 8) &&
           is(sums, (sums.begin + 0xffff) >> File::block_bits, 4);
  }
};

}  // namespace table
}  // namespace yunti
