// Entries of one thread by bucket: chains of small blocks from one huge-page arena.
#pragma once
#include <vector>

#include "memory.hpp"

class Buckets {
  public:
    static constexpr size_t kBlock = 512;  // entries: 4 KB

    // Reserves room for `entries` over all buckets.
    Buckets(size_t buckets, size_t entries) : at_(buckets, nullptr), blocks_(buckets) {
        arena_bytes_ = (entries + (buckets + 1) * kBlock) * 8;
        arena_ = next_ = (uint64_t*)map_memory(arena_bytes_);
    }
    ~Buckets() { unmap_memory(arena_, arena_bytes_); }
    Buckets(const Buckets&) = delete;

    void add(size_t bucket, uint64_t entry) {
        uint64_t*& at = at_[bucket];
        if (__builtin_expect((uintptr_t)at % (kBlock * 8) == 0, 0)) {
            at = next_;
            next_ += kBlock;
            blocks_[bucket].push_back(at);
        }
        *at++ = entry;
    }
    size_t size(size_t bucket) const {
        auto& b = blocks_[bucket];
        return b.empty() ? 0 : (b.size() - 1) * kBlock + (at_[bucket] - b.back());
    }
    // Copies the entries of a bucket and returns the end of the copy.
    uint64_t* copy(size_t bucket, uint64_t* to) const {
        size_t left = size(bucket);
        for (auto* block : blocks_[bucket]) {
            size_t n = left < kBlock ? left : kBlock;
            memcpy(to, block, n * 8);
            to += n;
            left -= n;
        }
        return to;
    }

  private:
    std::vector<uint64_t*> at_;
    std::vector<std::vector<uint64_t*>> blocks_;
    uint64_t *arena_, *next_;
    size_t arena_bytes_;
};
