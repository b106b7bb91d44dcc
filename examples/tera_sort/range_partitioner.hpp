// Partitioner by key ranges of equal width: partition p has smaller keys than partition p + 1, so the parts in sequence
// are sorted.
//
// The keys of TeraGen are spread evenly, so ranges of equal width have equally many records. Other keys must be sampled
// first, as the engine's total order does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace tera_sort {

struct RangePartitioner : yunti::Partitioner<> {
  uint32_t partition(std::string_view key, uint32_t parts) {
    // The first four bytes as a number in the order of the keys, scaled from 0 .. 2^32-1 to 0 .. parts-1. A shorter key
    // is filled with zeros.
    uint64_t prefix = 0;
    for (size_t i = 0; i < 4; ++i) prefix = prefix << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
    return static_cast<uint32_t>(prefix * parts >> 32);
  }
};

}  // namespace tera_sort
