// Words or lines of files in pieces for threads. Threads claim ranges of a few MB by an atomic counter, read them into
// a reused buffer in the L2 cache, and cut them after a delimiter. The rest after a cut is carried before the next
// piece.
//
//   range:  [from .. to)   a token belongs to the range in which it begins
//   buffer: | headroom ... carried | piece, page-aligned ... | slack |
#pragma once
#include <atomic>
#include <memory>

#include "files.hpp"
#include "memory.hpp"

class Ranges {
  public:
    Ranges(const std::vector<InputFile>& files, uint64_t range_bytes) {
        for (auto& f : files)
            for (uint64_t at = 0; at < f.size; at += range_bytes)
                all_.push_back({f.fd, at, std::min(f.size, at + range_bytes), f.size});
    }
    struct Range { int fd; uint64_t from, to, file_size; };
    const Range* claim() {
        size_t i = next_.fetch_add(1, std::memory_order_relaxed);
        return i < all_.size() ? &all_[i] : nullptr;
    }

  private:
    std::vector<Range> all_;
    std::atomic<size_t> next_{0};
};

template <class IsDelimiter>
class PieceReader {
  public:
    explicit PieceReader(IsDelimiter is_delimiter, size_t piece_bytes = 256 << 10)
        : delimits_(is_delimiter), piece_(piece_bytes), headroom_(64 << 10), buffer_((char*)map_memory(total())) {}

    // Calls use(data, bytes) for spans of whole tokens that end with a delimiter, which is added at the end of a file
    // if it is missing. The 64 bytes after the span are readable and have any content.
    template <class Use>
    void read(const Ranges::Range& range, Use use) {
        uint64_t at = range.from;
        size_t carried = 0;
        bool skipping = false;  // the token that began in the previous range
        if (at > 0) {
            char before;
            read_at(range.fd, &before, 1, at - 1);
            skipping = !delimits_(before);
        }
        while (at < range.file_size && (at < range.to || carried)) {
            bool past = at >= range.to;  // only to finish the current token
            size_t want =
                past ? std::min<uint64_t>(4096, range.file_size - at) : std::min<uint64_t>(piece_, range.to - at);
            char* piece = buffer_ + headroom_;
            size_t n = read_at(range.fd, piece, want, at);
            if (n < want) die("input shrank");
            at += n;
            char* begin = piece - carried;
            char* end = piece + n;
            if (skipping) {
                while (begin < end && !delimits_(*begin)) begin++;
                if (begin == end) continue;  // carried is 0 here
                begin++;
                skipping = false;
            }
            char* cut = end;
            if (past) {
                cut = piece;
                while (cut < end && !delimits_(*cut)) cut++;
                if (cut < end) { use(begin, cut + 1 - begin); return; }
                cut = begin;
            } else {
                while (cut > begin && !delimits_(cut[-1])) cut--;
                if (cut > begin) use(begin, cut - begin);
            }
            carried = end - cut;
            if (at < range.file_size) carry(cut, carried);
            else if (carried) { *end = '\n'; use(cut, carried + 1); return; }
        }
    }

  private:
    size_t total() const { return headroom_ + piece_ + 4096; }
    void carry(const char* from, size_t n) {
        if (n <= headroom_) { memmove(buffer_ + headroom_ - n, from, n); return; }
        size_t old = total();
        headroom_ = round_up(n * 2, 4096);
        char* bigger = (char*)map_memory(total());
        memcpy(bigger + headroom_ - n, from, n);
        unmap_memory(buffer_, old);
        buffer_ = bigger;
    }
    IsDelimiter delimits_;
    size_t piece_, headroom_;
    char* buffer_;
};
