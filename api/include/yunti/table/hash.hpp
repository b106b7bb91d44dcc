// Hash of the bytes of a key (docs/formats/ytab.md, "Lookup"): products of 64 by 64 bits, whose halves are folded.
//
// A product takes 3 cycles, so that a key of 8 bytes costs 3 instructions and one of 16 bytes 8. Lookups that wait for
// memory run side by side, and the fewer instructions each has, the more of them fit into the processor's window.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../error.hpp"

namespace yunti {
namespace table {
namespace detail {

using yunti::detail::load;

__extension__ typedef unsigned __int128 Product;

// Returns the upper half of a product.
YUNTI_INLINE uint64_t high64(uint64_t a, uint64_t b) { return static_cast<uint64_t>(Product{a} * b >> 64); }

// Returns both halves of a product, folded.
YUNTI_INLINE uint64_t fold(uint64_t a, uint64_t b) {
  const Product product = Product{a} * b;
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

constexpr uint64_t hash_a = 0x2d358dccaa6c78a5u, hash_b = 0x8bb84b93962eacc9u, hash_c = 0x4b33a62ed433d4a3u;

// Begin of the hashes of a seed, computed once for a table.
class HashStart {
 public:
  explicit HashStart(uint64_t seed) : start_(fold(seed ^ hash_a, hash_b)) {}

  // Returns the hash of 8 bytes, as of a key that is one integer.
  YUNTI_INLINE uint64_t of(uint64_t word) const { return fold(word ^ start_, hash_b); }

  YUNTI_INLINE uint64_t of(std::string_view bytes) const {
    const char* p = bytes.data();
    const size_t n = bytes.size();
    uint64_t state = start_ ^ n * hash_c;
    // From 9 to 16 bytes: two words that may overlap.
    if (YUNTI_LIKELY(n - 9 < 8)) return end(state, p, p + n - 8);
    if (n > 16) {
      const char* const last = p + n - 8;
      for (size_t left = n; left > 16; left -= 16, p += 16)
        state = fold(load<uint64_t>(p) ^ state, load<uint64_t>(p + 8) ^ hash_b);
      return end(state, last - 8, last);
    }
    if (n == 8) return of(load<uint64_t>(p));
    uint64_t a = 0, b = 0;
    if (n >= 4) {
      a = load<uint32_t>(p);
      b = load<uint32_t>(p + n - 4);
    } else if (n > 0) {
      const auto byte = [&](size_t at) { return uint64_t{static_cast<uint8_t>(p[at])}; };
      a = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
    }
    return fold(a ^ state, b ^ hash_b);
  }

 private:
  static YUNTI_INLINE uint64_t end(uint64_t state, const char* a, const char* b) {
    return fold(load<uint64_t>(a) ^ state, load<uint64_t>(b) ^ hash_b);
  }

  uint64_t start_;
};

// Returns the shard of a key, of `shards`.
inline uint32_t shard_of(std::string_view key, uint32_t shards) {
  return static_cast<uint32_t>(high64(HashStart(0).of(key), shards));
}

}  // namespace detail
}  // namespace table
}  // namespace yunti
