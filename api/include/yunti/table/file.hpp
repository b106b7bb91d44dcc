// The bytes of a table: a file, mapped read-only and shared, whose blocks are checked before their first use.
//
// Limits: a file that is cut or written to while it is mapped may end the process by SIGBUS, or give wrong bytes.
// Replace a table by rename(2), as `yunti table build` does. Linux only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>

#include "checksum.hpp"

namespace yunti {

// Options of a mapping.
struct TableOptions {
  // Reads the whole file at the start, so that no lookup waits for a disk.
  bool populate = false;
  // Lets the kernel map large pages. It does so for files on tmpfs, and for others if it was built to.
  bool huge_pages = false;
  // Keeps the pages in memory (mlock). Fails without the right to do so: raise the limit of `ulimit -l`.
  bool lock = false;
  // Reads the file with its new pages spread over all NUMA nodes. Does nothing on a machine with one node, and for
  // pages that are in memory already. Implies populate.
  bool interleave = false;
  // Skips the checksums of blocks. Offsets and lengths are checked nevertheless.
  bool trust = false;
};

namespace table {

// Throws the error for a file whose bytes contradict each other.
[[noreturn]] YUNTI_COLD inline void damaged(const std::string& what) { throw Error("the table is damaged: " + what); }

namespace detail {

// Spreads the pages that this thread brings into memory over all nodes, until it is destroyed.
class Interleave {
 public:
  explicit Interleave(bool wanted) {
    is_set_ = wanted && syscall(SYS_get_mempolicy, &old_mode_, old_, bits, nullptr, 0) == 0 &&
              syscall(SYS_get_mempolicy, nullptr, all_, bits, nullptr, mems_allowed) == 0 &&
              syscall(SYS_set_mempolicy, interleave, all_, bits) == 0;
  }
  ~Interleave() {
    if (is_set_) syscall(SYS_set_mempolicy, old_mode_, old_mode_ == 0 ? nullptr : old_, old_mode_ == 0 ? 0 : bits);
  }
  Interleave(const Interleave&) = delete;
  Interleave& operator=(const Interleave&) = delete;

 private:
  // Numbers of linux/mempolicy.h; the kernel refuses a mask with fewer bits than it has nodes.
  static constexpr unsigned long bits = 1024, mems_allowed = 4;
  static constexpr int interleave = 3;
  unsigned long old_[bits / (8 * sizeof(long))] = {}, all_[bits / (8 * sizeof(long))] = {};
  int old_mode_ = 0;
  bool is_set_ = false;
};

}  // namespace detail

// Place of a section in the file.
struct Place {
  uint64_t begin, bytes;
  uint64_t end() const { return begin + bytes; }
};

// The bytes of a mapped table, each block checked before its first use.
class File {
 public:
  static constexpr unsigned block_bits = 16;

  File(const std::string& path, const TableOptions& options) : path_(path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) failed("cannot open the table", errno);
    struct stat meta;
    const bool is_known = fstat(file, &meta) == 0;
    if (!is_known || !S_ISREG(meta.st_mode)) {
      const int error = errno;
      ::close(file);
      if (is_known) throw Error("the table is no plain file: " + path);
      failed("cannot open the table", error);
    }
    identity_ = Identity::of(meta);
    size_ = static_cast<uint64_t>(meta.st_size);
    void* begin = size_ == 0 ? nullptr : mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    const int error = errno;
    ::close(file);
    if (begin == MAP_FAILED) failed("cannot map the table", error);
    data_ = static_cast<const char*>(begin);
    if (data_ != nullptr) advise(options);
  }

  ~File() { unmap(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Begins the checks: the sum of each block before `sums` is there. `lookups` are the bytes that lookups read, in two
  // stretches: blocks of walks alone, such as the bits of used slots, may never be read.
  void check_blocks(uint64_t sums, const Place (&lookups)[2]) {
    end_ = sums;
    for (int i = 0; i < 2; ++i) {
      if (lookups[i].bytes == 0) continue;
      // A block that both stretches have counts once.
      of_lookups_[i].begin = std::max(lookups[i].begin >> block_bits, i == 0 ? 0 : of_lookups_[0].end());
      of_lookups_[i].bytes = ((lookups[i].end() + 0xffff) >> block_bits) - of_lookups_[i].begin;
    }
    const uint64_t words = (sums >> block_bits) / 64 + 1;
    checked_ = std::make_unique<std::atomic<uint64_t>[]>(words);
    for (uint64_t i = 0; i < words; ++i) checked_[i].store(0, std::memory_order_relaxed);
    left_.store(of_lookups_[0].bytes + of_lookups_[1].bytes, std::memory_order_relaxed);
    is_ready_.store(left_.load(std::memory_order_relaxed) == 0, std::memory_order_relaxed);
  }

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // Returns bytes without a check.
  const char* at(uint64_t offset) const { return data_ + offset; }
  uint64_t offset(const char* at) const { return static_cast<uint64_t>(at - data_); }

  // Returns true once all bytes that lookups read are known to be right. Relaxed: the bytes do not change, so that it
  // does not matter which thread sees the flag when.
  YUNTI_INLINE bool is_ready() const { return is_ready_.load(std::memory_order_relaxed); }

  // Returns bytes that lookups read. Throws Error if a block of them is damaged.
  YUNTI_INLINE const char* use_in_lookup(uint64_t offset, uint64_t bytes) const {
    return YUNTI_LIKELY(is_ready()) ? data_ + offset : use(offset, bytes);
  }

  // Returns bytes of the file. Throws Error if a block of them is damaged.
  YUNTI_INLINE const char* use(uint64_t offset, uint64_t bytes) const {
    if (checked_ != nullptr && bytes > 0) {
      const uint64_t first = offset >> block_bits, last = (offset + bytes - 1) >> block_bits;
      for (uint64_t block = first; block <= last; ++block) {
        const uint64_t known = checked_[block / 64].load(std::memory_order_relaxed);
        if (YUNTI_UNLIKELY((known >> block % 64 & 1) == 0)) check(block);
      }
    }
    return data_ + offset;
  }

  // Checks all blocks.
  void verify() const {
    for (uint64_t block = 0; block << block_bits < end_; ++block) check(block);
  }

  // Returns true if another file is at the path now.
  bool is_replaced() const {
    struct stat meta;
    return stat(path_.c_str(), &meta) == 0 && !(Identity::of(meta) == identity_);
  }

 private:
  // What tells two files at one path apart.
  struct Identity {
    dev_t device;
    ino_t inode;
    int64_t seconds, nanos;
    static Identity of(const struct stat& m) { return {m.st_dev, m.st_ino, m.st_mtim.tv_sec, m.st_mtim.tv_nsec}; }
    bool operator==(const Identity& o) const {
      return device == o.device && inode == o.inode && seconds == o.seconds && nanos == o.nanos;
    }
  };

  [[noreturn]] YUNTI_COLD void failed(const char* what, int error) const {
    throw Error(std::string(what) + ": " + path_ + ": " + std::strerror(error));
  }

  void unmap() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }

  // All but the lock are wishes: a kernel that does not grant one maps the file as ever.
  void advise(const TableOptions& options) {
    void* begin = const_cast<char*>(data_);
#ifdef MADV_HUGEPAGE
    if (options.huge_pages) madvise(begin, size_, MADV_HUGEPAGE);
#endif
    if (options.populate || options.interleave) {
      const detail::Interleave interleave(options.interleave);
      constexpr int populate_read = 22;  // MADV_POPULATE_READ, since Linux 5.14
      constexpr uint64_t page = 4096;
      if (madvise(begin, size_, populate_read) != 0)
        for (uint64_t i = 0; i < size_; i += page) static_cast<void>(*const_cast<const volatile char*>(data_ + i));
    }
    if (options.lock && mlock(begin, size_) != 0) {
      const int error = errno;
      unmap();
      failed("cannot lock the table in memory", error);
    }
  }

  // Checks a block. Two threads may both do so.
  YUNTI_COLD void check(uint64_t block) const {
    const uint64_t begin = block << block_bits, bytes = std::min<uint64_t>(end_ - begin, uint64_t{1} << block_bits);
    const uint32_t sum = yunti::detail::load<uint32_t>(data_ + end_ + 4 * block);
    if (detail::checksum_of(data_ + begin, bytes) != sum)
      damaged("the checksum of the bytes from " + std::to_string(begin) + " on is wrong: " + path_);
    const uint64_t bit = uint64_t{1} << block % 64;
    const bool is_first = (checked_[block / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    const auto has_block = [&](const Place& of) { return block >= of.begin && block < of.end(); };
    const bool is_of_lookups = has_block(of_lookups_[0]) || has_block(of_lookups_[1]);
    // When all blocks of lookups are right, a flag takes the place of the bits.
    if (is_first && is_of_lookups && left_.fetch_sub(1, std::memory_order_relaxed) == 1)
      is_ready_.store(true, std::memory_order_relaxed);
  }

  std::string path_;
  const char* data_ = nullptr;
  // Bytes of the file, and where its sums begin: 0 if they do not count.
  uint64_t size_ = 0, end_ = 0;
  // Blocks that lookups read.
  Place of_lookups_[2] = {};
  std::unique_ptr<std::atomic<uint64_t>[]> checked_;
  mutable std::atomic<uint64_t> left_{0};
  mutable std::atomic<bool> is_ready_{true};
  Identity identity_{};
};

}  // namespace table
}  // namespace yunti
