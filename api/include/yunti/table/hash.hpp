// XXH64 of the bytes of a key. https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
//
// It stands here because a table must be read the same way by programs with any version of xxhash, or with none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../error.hpp"

namespace yunti {
namespace table {
namespace detail {

using yunti::detail::load;

constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                   prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;

YUNTI_INLINE uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

YUNTI_INLINE uint64_t hash_round(uint64_t lane, uint64_t input) { return rotate(lane + input * prime2, 31) * prime1; }

YUNTI_INLINE uint64_t hash_end(uint64_t h) {
  h = (h ^ h >> 33) * prime2;
  h = (h ^ h >> 29) * prime3;
  return h ^ h >> 32;
}

// Returns the hash of 8 bytes, as of a key that is one integer.
YUNTI_INLINE uint64_t hash_of(uint64_t bytes, uint64_t seed) {
  const uint64_t h = seed + prime5 + 8;
  return hash_end(rotate(h ^ hash_round(0, bytes), 27) * prime1 + prime4);
}

inline uint64_t hash_of(std::string_view bytes, uint64_t seed) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  uint64_t h = seed + prime5;
  if (bytes.size() >= 32) {
    uint64_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
    for (; end - p >= 32; p += 32)
      for (int i = 0; i < 4; ++i) lanes[i] = hash_round(lanes[i], load<uint64_t>(p + 8 * i));
    h = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (const uint64_t lane : lanes) h = (h ^ hash_round(0, lane)) * prime1 + prime4;
  }
  h += bytes.size();
  for (; end - p >= 8; p += 8) h = rotate(h ^ hash_round(0, load<uint64_t>(p)), 27) * prime1 + prime4;
  if (end - p >= 4) {
    h = rotate(h ^ load<uint32_t>(p) * prime1, 23) * prime2 + prime3;
    p += 4;
  }
  for (; p < end; ++p) h = rotate(h ^ static_cast<uint8_t>(*p) * prime5, 11) * prime1;
  return hash_end(h);
}

}  // namespace detail
}  // namespace table
}  // namespace yunti
