// Zeroed anonymous memory with huge pages, because fresh 4 KB pages would cost more than the sort.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "files.hpp"

constexpr size_t kHugePage = size_t(2) << 20;

inline size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

// Returns memory. From 1 MiB on it is aligned to 2 MiB, a multiple of 2 MiB, and advised huge; below, it has plain
// pages.
inline void* map_memory(size_t bytes) {
    bool huge = bytes >= kHugePage / 2;
    size_t want = round_up(bytes, huge ? kHugePage : 4096);
    size_t span = want + (huge ? kHugePage : 0);
    char* p = (char*)mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) die("mmap");
    if (!huge) return p;
    char* aligned = (char*)round_up((size_t)p, kHugePage);
    if (aligned > p) munmap(p, aligned - p);
    if (p + span > aligned + want) munmap(aligned + want, p + span - aligned - want);
    madvise(aligned, want, MADV_HUGEPAGE);
    return aligned;
}

inline void unmap_memory(void* p, size_t bytes) {
    munmap(p, round_up(bytes, bytes >= kHugePage / 2 ? kHugePage : 4096));
}
