// The way from a key to its row: hash -> bucket -> pilot -> slot -> row (docs/formats/ytab.md, "Lookup").
//
// A lookup waits for memory twice or three times, and the processor begins the next ones while it waits: as many as fit
// into its window of instructions. So a single lookup is as fast as it is short, above all behind its first wait.
// Three shapes of tables have a fast path, which begins once all checksums of lookups were found right, with one test
// for this and for the shape, and without calls: an integer of 8 bytes in rows of one length, the same in rows of
// different lengths, and a text as the only column without a fixed width.
//
// No path trusts the file: offsets lead to bytes of the section of rows, or to an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hash.hpp"
#include "value.hpp"

namespace yunti {
namespace table {

namespace detail {

[[noreturn]] YUNTI_COLD inline void group_is_cut() { damaged("a group is cut, or outside of its section"); }

// Returns 0 for equal texts of one length. Up to 32 bytes are words that may overlap: a call would cost more.
YUNTI_INLINE uint64_t difference(const char* a, const char* b, size_t n) {
  const auto differs = [&](size_t at) { return load<uint64_t>(a + at) ^ load<uint64_t>(b + at); };
  const auto differs_4 = [&](size_t at) { return load<uint32_t>(a + at) ^ load<uint32_t>(b + at); };
  if (YUNTI_LIKELY(n - 8 <= 8)) return differs(0) | differs(n - 8);
  if (n > 32) return std::memcmp(a, b, n) != 0;
  if (n > 16) return differs(0) | differs(8) | differs(n - 16) | differs(n - 8);
  if (n >= 4) return differs_4(0) | differs_4(n - 4);
  return n != 0 && (a[0] != b[0] || a[n / 2] != b[n / 2] || a[n - 1] != b[n - 1]);
}

}  // namespace detail

// Place of a slot's bytes: they begin and end at these offsets from the base of their group.
struct SlotPlace {
  uint64_t base, begin, end;
};

// Where the lookups of a table read, computed once.
class Index {
 public:
  Index(const File& file, const Header& header, const Schema& schema)
      : start_(header.seed),
        pilots_(reinterpret_cast<const uint8_t*>(file.at(header.pilots.begin))),
        groups_(file.at(header.groups.begin)),
        rows_(file.at(header.row_data.begin)),
        buckets_(uint64_t{header.parts} * header.buckets),
        slots_(header.slots),
        row_data_bytes_(header.row_data.bytes),
        row_bytes_(header.row_bytes),
        group_bytes_(header.group_bytes()),
        bucket_bits_(header.buckets == 0 ? 0 : static_cast<uint32_t>(__builtin_ctz(header.buckets))),
        end_bytes_(header.end_bytes) {
    const Column& key = schema.row.columns[schema.keys[0]];
    if (header.parts == 0 || header.is_multi || schema.keys.size() != 1) return;
    if (key.width == 8) {
      key_at_ = key.at;
      const bool is_signed = table::is_signed(key.type);
      if (header.is_grouped()) fast_ = is_signed ? Shape::SignedInGroups : Shape::UnsignedInGroups;
      else fast_ = is_signed ? Shape::Signed : Shape::Unsigned;
    } else if (is_text(key.type) && schema.row.others == 1) {
      text_at_ = schema.row.fixed_bytes + 1;
      fast_ = Shape::Text;
    }
  }

  // Lets the fast paths begin. Call it when all bytes that lookups read were found right.
  void begin_fast() const {
    // Not again: threads share the cache line.
    if (shape() != fast_) shape_.store(fast_, std::memory_order_relaxed);
  }

  uint64_t hash_of(uint64_t key) const { return start_.of(key); }
  uint64_t hash_of(std::string_view key) const { return start_.of(key); }

  // Returns the number of a hash's bucket, of all parts.
  YUNTI_INLINE uint64_t bucket_of(uint64_t hash) const { return detail::high64(hash, buckets_); }

  YUNTI_INLINE uint64_t slot_of(uint64_t hash, uint64_t bucket, uint8_t pilot) const {
    constexpr uint64_t P = 0x4d5a2da51de1aa47u, S = 0x9E3779B97F4A7C15u;
    return (bucket >> bucket_bits_) * slots_ + detail::high64((hash ^ pilot * P) * S, slots_);
  }

  // Returns where the bytes of a slot are, by its group.
  YUNTI_INLINE SlotPlace place_of(uint64_t slot) const {
    const char* group = group_of(slot);
    const uint64_t number = slot % Header::group;
    SlotPlace place{detail::load<uint64_t>(group), 0, 0};
    group += 8;
    if (YUNTI_LIKELY(end_bytes_ == 2)) {
      place.begin = detail::load<uint16_t>(group + 2 * number);
      place.end = detail::load<uint16_t>(group + 2 * number + 2);
    } else {
      place.begin = detail::load<uint32_t>(group + 4 * number);
      place.end = detail::load<uint32_t>(group + 4 * number + 4);
    }
    return place;
  }

  YUNTI_INLINE const char* group_of(uint64_t slot) const { return groups_ + slot / Header::group * group_bytes_; }

  // Returns the bytes at a place. Throws Error if they are not in the section of rows.
  YUNTI_INLINE std::string_view bytes_at(const SlotPlace& place) const {
    const bool is_within = place.begin <= place.end && place.base <= row_data_bytes_ &&
                           place.end <= row_data_bytes_ - place.base;
    if (YUNTI_UNLIKELY(!is_within)) detail::group_is_cut();
    return {rows_ + place.base + place.begin, place.end - place.begin};
  }

  // Returns true if a key of this type has a fast path, and the table's rows have one length.
  template <class T>
  YUNTI_INLINE bool is_fast(T key) const { return has_shape(key, Shape::Signed, Shape::Unsigned); }
  // The same, for rows of different lengths.
  template <class T>
  YUNTI_INLINE bool is_fast_in_groups(T key) const {
    return has_shape(key, Shape::SignedInGroups, Shape::UnsignedInGroups);
  }
  YUNTI_INLINE bool is_fast(std::string_view key) const {
    return YUNTI_LIKELY(shape() == Shape::Text) && YUNTI_LIKELY(key.size() < 0x80);
  }

  // Looks up an integer in rows of one length. The schema, whose columns `fields` are, has it within them.
  YUNTI_INLINE Row find(uint64_t key, const Fields& fields) const {
    const char* row = rows_ + find_slot(hash_of(key)) * row_bytes_;
    return detail::load<uint64_t>(row + key_at_) == key ? Row(&fields, {row, row_bytes_}) : Row();
  }

  YUNTI_INLINE Row find_in_groups(uint64_t key, const Fields& fields) const {
    const SlotPlace place = place_of(find_slot(hash_of(key)));
    if (place.begin == place.end) return {};
    const std::string_view row = bytes_at(place);
    if (YUNTI_UNLIKELY(row.size() < key_at_ + 8)) detail::row_is_cut();
    return detail::load<uint64_t>(row.data() + key_at_) == key ? Row(&fields, row) : Row();
  }

  // Looks up a text of less than 128 bytes, whose length is one byte: a row that has the key ends with it, and has one
  // length. So the bytes of another length need no look at the row.
  YUNTI_INLINE Row find(std::string_view key, const Fields& fields) const {
    const uint64_t hash = hash_of(key), bytes = text_at_ + key.size();
    const SlotPlace place = place_of(find_slot(hash));
    if (place.end - place.begin != bytes) {
      if (YUNTI_UNLIKELY(place.begin > place.end)) detail::group_is_cut();
      return {};
    }
    uint64_t end;
    const bool is_wrapped = __builtin_add_overflow(place.base, place.end, &end);
    if (YUNTI_UNLIKELY(is_wrapped || end > row_data_bytes_)) detail::group_is_cut();
    const char* text = rows_ + end - key.size();
    if (detail::difference(text, key.data(), key.size()) != 0) return {};
    if (YUNTI_UNLIKELY(static_cast<uint8_t>(text[-1]) != key.size())) detail::row_is_cut();
    return Row(&fields, {rows_ + (end - bytes), bytes});
  }

 private:
  enum class Shape : uint8_t { Other, Signed, Unsigned, SignedInGroups, UnsignedInGroups, Text };

  YUNTI_INLINE uint64_t find_slot(uint64_t hash) const {
    const uint64_t bucket = bucket_of(hash);
    return slot_of(hash, bucket, pilots_[bucket]);
  }

  YUNTI_INLINE Shape shape() const { return shape_.load(std::memory_order_relaxed); }

  // An integer of the other sign has the path too, if the column can have it.
  template <class T>
  YUNTI_INLINE bool has_shape(T key, Shape of_signed, Shape of_unsigned) const {
    const Shape own = std::is_signed_v<T> ? of_signed : of_unsigned;
    const Shape other = std::is_signed_v<T> ? of_unsigned : of_signed;
    const Shape is = shape();
    return YUNTI_LIKELY(is == own) || (is == other && static_cast<int64_t>(key) >= 0);
  }

  detail::HashStart start_;
  const uint8_t* pilots_;
  const char *groups_, *rows_;
  uint64_t buckets_;  // of all parts
  uint64_t slots_;    // of each part
  uint64_t row_data_bytes_, row_bytes_, group_bytes_;
  uint32_t bucket_bits_, end_bytes_;
  // Offset of an integer key in its row, or of a text key in rows with a fast path.
  uint32_t key_at_ = 0, text_at_ = 0;
  Shape fast_ = Shape::Other;
  mutable std::atomic<Shape> shape_{Shape::Other};
};

}  // namespace table
}  // namespace yunti
