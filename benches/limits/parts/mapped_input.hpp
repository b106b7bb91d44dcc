// All input files, mapped in order into one range of addresses, each at a multiple of `unit` bytes. Threads claim
// pieces. Mapping costs less than a copy: the page cache is read once for the keys and once to gather the records.
#pragma once
#include <atomic>

#include "files.hpp"
#include "memory.hpp"

class MappedInput {
  public:
    struct Piece { const char *begin, *end, *file_begin, *file_end; };

    MappedInput(const std::vector<InputFile>& files, size_t unit, size_t piece_bytes) {
        size_t step = unit;  // so that each file also begins at a page
        while (step % 4096) step += unit;
        size_t span = 0;
        for (auto& f : files) span += round_up(f.size + 4096, step);
        base_ = (char*)mmap(nullptr, span + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base_ == MAP_FAILED) die("mmap");
        char* at = base_;
        for (auto& f : files) {
            if (f.size && mmap(at, f.size, PROT_READ, MAP_SHARED | MAP_FIXED, f.fd, 0) == MAP_FAILED) die(f.path);
            for (size_t o = 0; o < f.size; o += piece_bytes)
                pieces_.push_back({at + o, at + std::min<size_t>(f.size, o + piece_bytes), at, at + f.size});
            at += round_up(f.size + 4096, step);
            bytes_ += f.size;
        }
    }
    const Piece* claim() {
        size_t i = next_.fetch_add(1, std::memory_order_relaxed);
        if (i >= pieces_.size()) return nullptr;
        char* page = (char*)((size_t)pieces_[i].begin & ~size_t(4095));
        madvise(page, pieces_[i].end - page, MADV_POPULATE_READ);  // fewer page faults; a failure is harmless
        return &pieces_[i];
    }
    const std::vector<Piece>& pieces() const { return pieces_; }
    const char* base() const { return base_; }
    size_t bytes() const { return bytes_; }

  private:
    char* base_;
    size_t bytes_ = 0;
    std::vector<Piece> pieces_;
    std::atomic<size_t> next_{0};
};
