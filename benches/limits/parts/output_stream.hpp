// Output of text lines from several threads to one file, in any order. Each thread fills a buffer and claims the next
// range of the file when it is full.
#pragma once
#include <atomic>

#include "files.hpp"
#include "memory.hpp"

class OutputStream {
  public:
    OutputStream(int fd, std::atomic<uint64_t>& file_end)
            : fd_(fd), file_end_(file_end), buffer_((char*)map_memory(kBytes + kSlack)), at_(buffer_) {}
    ~OutputStream() { flush(); }

    // Returns room for n bytes and 64 bytes of over-copy. Call advance() after writing.
    char* room(size_t n) {
        if (at_ + n > buffer_ + kBytes) flush();
        if (n > kBytes) die("line too long for the output buffer");
        return at_;
    }
    void advance(char* to) { at_ = to; }
    void write_alone(const void* data, size_t n) {  // for a line of any length
        flush();
        write_at(fd_, data, n, file_end_.fetch_add(n));
    }
    void flush() {
        size_t n = at_ - buffer_;
        if (n) write_at(fd_, buffer_, n, file_end_.fetch_add(n));
        at_ = buffer_;
    }

  private:
    static constexpr size_t kBytes = 1 << 20, kSlack = 4096;
    int fd_;
    std::atomic<uint64_t>& file_end_;
    char *buffer_, *at_;
};

inline char* append_number(char* to, uint64_t v) {
    char digits[20];
    int n = 0;
    do digits[n++] = char('0' + v % 10);
    while (v /= 10);
    while (n) *to++ = digits[--n];
    return to;
}
