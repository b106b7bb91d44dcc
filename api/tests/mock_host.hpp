// Mock of the engine for tests: loads a class library and calls it at the limits of every rule of yunti.h.
//
//   input    ....... records | 64 bytes of slack, filled with separators | a page that cannot be touched
//   block    ....... room    | 64 bytes of slack                         | a page that cannot be touched
//
// Blocks can be as small as the ABI allows, so any record may reach the end of one. Emitted records are decoded from
// the bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "yunti.h"

namespace mock {

inline std::string_view text(yt_str s) { return {reinterpret_cast<const char*>(s.p), static_cast<size_t>(s.n)}; }
inline yt_str str(std::string_view s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

// Memory of n bytes and YT_SLACK, ending at a guard page.
class Guarded {
 public:
  explicit Guarded(size_t n) {
    const size_t page = 4096, room = (n + YT_SLACK + page - 1) / page * page;
    bytes_ = room + page;
    map_ = static_cast<uint8_t*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(map_ != MAP_FAILED);
    CHECK(mprotect(map_ + room, page, PROT_NONE) == 0);
    p = map_ + room - YT_SLACK - n;
    std::memset(p + n, ' ', YT_SLACK);
  }
  explicit Guarded(std::string_view s) : Guarded(s.size()) { std::memcpy(p, s.data(), s.size()); }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(map_, bytes_); }
  uint8_t* p;

 private:
  uint8_t* map_;
  size_t bytes_;
};

using Record = std::pair<std::string, std::string>;
using Records = std::vector<Record>;

inline std::string number(int64_t v) { return std::string(reinterpret_cast<const char*>(&v), 8); }

// An output block and the records emitted into it.
class Sink {
 public:
  explicit Sink(yt_form form = YT_FORM_COPY, size_t block_bytes = 1 << 18, const uint8_t* ref_base = nullptr)
      : block_(block_bytes), block_bytes_(block_bytes) {
    out.size = sizeof out;
    out.form = form;
    out.ref_base = ref_base;
    out.full = full;
    out.big = big;
    out.engine = this;
    reset(0);
  }

  yt_out out{};
  Records records;
  std::string bytes;  // form BYTES
  int fulls = 0, bigs = 0, stop_after = -1;

  // Returns all records so far. Call it after each call into the class.
  Records& take() {
    decode();
    reset(out.form == YT_FORM_COPY ? 0 : 0);
    return records;
  }

 private:
  void reset(uint64_t need) {
    // A block has at least the requested `need` bytes.
    if (need > block_bytes_) {
      spare_ = std::make_unique<Guarded>(need);
      out.cur = start_ = spare_->p;
      out.end = start_ + need;
    } else {
      out.cur = start_ = block_.p;
      out.end = start_ + block_bytes_;
    }
  }

  void decode() {
    if (out.form == YT_FORM_BYTES) {
      CHECK(out.cur <= out.end);
      bytes.append(reinterpret_cast<const char*>(start_), static_cast<size_t>(out.cur - start_));
      return;
    }
    for (const uint8_t* p = start_; p < out.cur;) {
      uint32_t a, b;
      std::memcpy(&a, p, 4);
      std::memcpy(&b, p + 4, 4);
      if (out.form == YT_FORM_COPY) {
        const char* key = reinterpret_cast<const char*>(p + 8);
        records.emplace_back(std::string(key, a), std::string(key + a, b));
        p += (8 + uint64_t{a} + b + 7) / 8 * 8;
      } else {
        std::string key(reinterpret_cast<const char*>(out.ref_base) + a, b);
        records.emplace_back(std::move(key), out.form == YT_FORM_ONE ? number(1)
            : std::string(reinterpret_cast<const char*>(p + 8), 8));
        p += out.form == YT_FORM_ONE ? 8 : 16;
      }
      CHECK(p <= out.end);
    }
  }

  static yt_status full(yt_out* o, uint64_t need) {
    Sink& s = *static_cast<Sink*>(o->engine);
    CHECK(need <= YT_BIG_BYTES && o->cur <= o->end);
    if (s.stop_after == s.fulls++) return YT_STOP;
    s.decode();
    s.reset(need);
    return YT_OK;
  }

  static yt_status big(yt_out* o, yt_str key, yt_str value) {
    Sink& s = *static_cast<Sink*>(o->engine);
    const bool copy = o->form == YT_FORM_COPY;
    CHECK((copy || o->form == YT_FORM_BYTES) && key.n + value.n > YT_BIG_BYTES - (copy ? 16 : 0) &&
        key.n + value.n <= 0x7FFFFFFF);
    ++s.bigs;
    s.decode();
    s.reset(0);
    if (!copy) {
      s.bytes += std::string(text(key)) + std::string(text(value));
      return YT_OK;
    }
    s.records.emplace_back(text(key), text(value));
    return YT_OK;
  }

  Guarded block_;
  size_t block_bytes_;
  std::unique_ptr<Guarded> spare_;
  uint8_t* start_ = nullptr;
};

inline void mask_any(const uint8_t* p, uint64_t n, const uint8_t* set, uint32_t set_n, uint64_t* bits) {
  std::memset(bits, 0, (n + 63) / 64 * 8);
  for (uint64_t i = 0; i < n; ++i)
    if (std::memchr(set, p[i], set_n)) bits[i / 64] |= uint64_t{1} << i % 64;
}

inline uint64_t edges(const uint8_t* p, uint64_t n, const uint8_t* set, uint32_t set_n, uint32_t base, uint32_t* before,
    uint32_t* to) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t inside = std::memchr(set, p[i], set_n) != nullptr;
    if (inside != *before) to[found++] = base + static_cast<uint32_t>(i);
    *before = inside;
  }
  return found;
}

class Host {
 public:
  Host() {
    context.size = sizeof context;
    context.abi_minor = YT_ABI_MINOR;
    context.engine = this;
    context.config = [](void* e, yt_str key) -> yt_str {
      const auto& all = static_cast<Host*>(e)->settings;
      const auto it = all.find(std::string(text(key)));
      return it == all.end() ? yt_str{nullptr, 0} : str(it->second);
    };
    context.counter = [](void* e, yt_str group, yt_str name) -> uint64_t* {
      Host& h = *static_cast<Host*>(e);
      return h.no_memory ? nullptr : &h.counters[std::string(text(group)) + "/" + std::string(text(name))];
    };
    context.error = [](void* e, yt_str message) { static_cast<Host*>(e)->error = text(message); };
    context.status = [](void* e, yt_str message) { static_cast<Host*>(e)->status = text(message); };
    context.mask_any = mask_any;
    context.edges = edges;
    context.side_file = [](void* e, yt_str name) -> yt_str {
      const auto& all = static_cast<Host*>(e)->side_files;
      const auto it = all.find(std::string(text(name)));
      return it == all.end() ? yt_str{nullptr, 0} : str(it->second);
    };
    context.input = [](void* e, uint32_t file) -> yt_str {
      const auto& all = static_cast<Host*>(e)->inputs;
      return file < all.size() ? str(all[file]) : yt_str{nullptr, 0};
    };
    context.partitions = 1;
  }

  yt_context context{};
  std::map<std::string, std::string> settings;
  std::map<std::string, uint64_t> counters;
  std::map<std::string, std::string> side_files;
  std::vector<std::string> inputs;
  std::string error, status;
  bool no_memory = false;
};

inline const yt_library* load(const char* path, uint32_t abi = YT_ABI_MAJOR << 16 | YT_ABI_MINOR) {
  void* so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (so == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  CHECK(so != nullptr);
  auto entry = reinterpret_cast<const yt_library* (*)(uint32_t)>(dlsym(so, "yunti_library_v0"));
  CHECK(entry != nullptr);
  return entry(abi);
}

inline const yt_class* find(const yt_library* library, std::string_view name) {
  for (uint32_t i = 0; i < library->n; ++i)
    if (library->classes[i]->name == name) return library->classes[i];
  std::fprintf(stderr, "no class %.*s\n", static_cast<int>(name.size()), name.data());
  std::exit(1);
}

// An instance of a class.
class Object {
 public:
  Object(const yt_class* c, Host& host) : cls(c) { CHECK(c->create(&host.context, &self) == YT_OK); }
  Object(const Object&) = delete;
  ~Object() { cls->destroy(self); }
  const yt_class* cls;
  void* self = nullptr;
};

// A batch of records, with their offset arrays.
class Batch {
 public:
  // Text as a span, or with its lines marked.
  Batch(std::string_view all, bool span) : data_(all) {
    init(all.size());
    if (span) {
      batch.flags = YT_BATCH_SPAN;
      return;
    }
    for (size_t i = 0; i < all.size();) {
      size_t e = all.find('\n', i);
      if (e == std::string_view::npos) e = all.size();
      add(voff_, vlen_, i, e - i);
      i = e + 1;
    }
    point(false);
  }

  explicit Batch(const Records& records) : data_(joined(records)) {
    size_t at = 0;
    for (const Record& r : records) {
      add(koff_, klen_, at, r.first.size());
      add(voff_, vlen_, at + r.first.size(), r.second.size());
      at += r.first.size() + r.second.size();
    }
    init(at);
    point(true);
  }

  yt_batch batch{};

 private:
  static std::string joined(const Records& records) {
    std::string all;
    for (const Record& r : records) all += r.first + r.second;
    return all;
  }
  static void add(std::vector<uint32_t>& off, std::vector<uint32_t>& len, size_t o, size_t n) {
    off.push_back(static_cast<uint32_t>(o));
    len.push_back(static_cast<uint32_t>(n));
  }
  void init(size_t bytes) {
    batch.size = sizeof batch;
    batch.base = data_.p;
    batch.bytes = bytes;
  }
  void point(bool keys) {
    voff_.reserve(1);
    batch.n = static_cast<uint32_t>(voff_.size());
    batch.voff = voff_.data();
    batch.vlen = vlen_.data();
    if (keys) {
      batch.koff = koff_.data();
      batch.klen = klen_.data();
    }
  }

  Guarded data_;
  std::vector<uint32_t> koff_, klen_, voff_, vlen_;
};

// A group of values; Groups stores them as bytes, or packed with `v8`.
struct Group {
  std::string key;
  std::vector<std::string> values;
};

class Groups {
 public:
  explicit Groups(const std::vector<Group>& all, bool v8, uint32_t flags = 0) : data_(joined(all)) {
    groups.size = sizeof groups;
    groups.n = static_cast<uint32_t>(all.size());
    groups.base = data_.p;
    groups.flags = flags;
    size_t at = 0;
    for (const Group& g : all) {
      koff_.push_back(static_cast<uint32_t>(at));
      klen_.push_back(static_cast<uint32_t>(g.key.size()));
      at += g.key.size();
      first_.push_back(static_cast<uint32_t>(voff_.size()));
      for (const std::string& v : g.values) {
        voff_.push_back(static_cast<uint32_t>(at));
        vlen_.push_back(static_cast<uint32_t>(v.size()));
        at += v.size();
        uint64_t x = 0;
        if (v8) std::memcpy(&x, v.data(), 8);
        v8_.push_back(x);
      }
    }
    first_.push_back(static_cast<uint32_t>(voff_.size()));
    groups.koff = koff_.data();
    groups.klen = klen_.data();
    groups.first = first_.data();
    if (v8) {
      groups.v8 = v8_.data();
    } else {
      groups.voff = voff_.data();
      groups.vlen = vlen_.data();
    }
  }

  yt_groups groups{};

 private:
  static std::string joined(const std::vector<Group>& all) {
    std::string s;
    for (const Group& g : all) {
      s += g.key;
      for (const std::string& v : g.values) s += v;
    }
    return s;
  }
  Guarded data_;
  std::vector<uint32_t> koff_, klen_, first_, voff_, vlen_;
  std::vector<uint64_t> v8_;
};

// Reads a file with the reader of a class, in pieces of `split` bytes (0: whole), passing `step` more bytes at a time.
inline Records read_file(const yt_class* cls, Host& host, const std::string& file, size_t split, size_t step,
    yt_status* status) {
  Records all;
  const yt_reader& reader = *cls->reader;
  for (size_t start = 0; start < file.size(); start += split) {
    if (split == 0) split = file.size();
    CHECK(split == file.size() || reader.find != nullptr);
    const size_t end = std::min(start + split, file.size());
    const bool cut = reader.find != nullptr;
    Object object(cls, host);
    Sink sink(YT_FORM_COPY, 64);
    size_t from = start < reader.look_back ? 0 : start - reader.look_back, to = std::min(file.size(), from + step);
    bool finding = start > 0;
    for (;;) {
      const Guarded stretch(std::string_view(file).substr(from, to - from));
      yt_chunk chunk{};
      chunk.size = sizeof chunk;
      chunk.flags = (from == 0 ? YT_CHUNK_FIRST : 0) | (to == file.size() ? YT_CHUNK_LAST : 0);
      chunk.base = stretch.p;
      chunk.bytes = to - from;
      chunk.limit = cut ? end - from : UINT64_MAX;
      chunk.position = from;
      uint64_t at = 0;
      const bool last = to == file.size();
      if (finding) {
        chunk.before = static_cast<uint32_t>(start - from);
        at = UINT64_MAX;
        *status = reader.find(object.self, &chunk, &at);
        if (*status != YT_OK) return all;
        if (at == UINT64_MAX && last) break;
        if (at != UINT64_MAX && at >= chunk.limit) break;
        if (at != UINT64_MAX) {
          CHECK(at >= chunk.before && at <= chunk.bytes);
          finding = false;
          from += at;
        }
      } else {
        *status = reader.read(object.self, &chunk, &sink.out, &at);
        if (*status != YT_OK) return all;
        CHECK(at <= chunk.bytes && (at > 0 || !last || from == to));
        if (at >= chunk.limit || (last && from == to)) break;
        from += at;
      }
      // Adds bytes if the call took nothing.
      to = std::min(file.size(), std::max(to, from) + (at == 0 || at == UINT64_MAX || from >= to ? step : 0));
    }
    for (Record& r : sink.take()) all.push_back(std::move(r));
  }
  return all;
}

}  // namespace mock
