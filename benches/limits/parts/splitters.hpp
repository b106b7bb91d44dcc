// Key ranges from a sample: splitter i is the first 8-byte key prefix of bucket i. A table over the top 16 bits gives
// the bucket of most prefixes with one load. Only a cell that contains splitters needs a search.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

class Splitters {
  public:
    // The sample need not be sorted; it may be empty.
    Splitters(std::vector<uint64_t> sample, size_t buckets) : first_(buckets, 0), cells_(1 << 16) {
        std::sort(sample.begin(), sample.end());
        for (size_t b = 1; b < buckets && !sample.empty(); b++) first_[b] = sample[sample.size() * b / buckets];
        shift_.resize(buckets);
        for (size_t b = 0; b < buckets; b++) {
            uint64_t last = b + 1 < buckets ? first_[b + 1] - (first_[b + 1] > first_[b]) : ~0ull;
            uint64_t width = last - first_[b];
            int bits = width ? 64 - __builtin_clzll(width) : 0;
            shift_[b] = bits > kKeyBits ? bits - kKeyBits : 0;
        }
        for (uint64_t c = 0; c < cells_.size(); c++) {
            size_t low = search(c << 48), high = search((c << 48) + ((1ull << 48) - 1));
            cells_[c] = low | (low == high ? 0 : kSearch);
        }
    }
    size_t buckets() const { return first_.size(); }
    // Returns the last bucket whose first prefix is not above this one.
    size_t bucket(uint64_t prefix) const {
        uint16_t c = cells_[prefix >> 48];
        return __builtin_expect(c & kSearch, 0) ? search(prefix) : c;
    }
    // Returns the first 36 bits that differ inside the bucket. They order the prefixes of a bucket but may tie.
    uint64_t key(size_t bucket, uint64_t prefix) const { return (prefix - first_[bucket]) >> shift_[bucket]; }

    static constexpr int kKeyBits = 36, kPositionBits = 28;

  private:
    static constexpr uint16_t kSearch = 0x8000;
    size_t search(uint64_t prefix) const {
        return std::upper_bound(first_.begin() + 1, first_.end(), prefix) - first_.begin() - 1;
    }
    std::vector<uint64_t> first_;
    std::vector<uint8_t> shift_;
    std::vector<uint16_t> cells_;
};
