// Output cursor of user code: appends records to a block of the engine, bumped inline.
//
//   out.emit(key, value);
//   out.emit(key);             // for the value type None, or if each value is one
//
//   YT_FORM_COPY  | u32 klen | u32 vlen | key ... | value ... | 0-7 bytes |  next record, 8-aligned
//   YT_FORM_ONE   | u32 koff | u32 klen |                                    the key stays in the input batch, value 1
//   YT_FORM_REF   | u32 koff | u32 klen | value: 8 bytes |                   the key stays in the input batch
//
// The form is a type parameter: each loop over records is compiled per form, and no record tests it at run time. An Out
// lives in registers for one call of the engine; `full` and `big` are its only calls, both out of line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "error.hpp"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace yunti {

// Bytes of key + value that a record may have at most.
inline constexpr uint64_t kRecordBytesMax = 0x7FFFFFFF;

namespace detail {

struct Room {
  uint8_t *cur, *end;
};

// Returns a block with at least `need` free bytes; throws Stopped if the engine has none.
YUNTI_COLD inline Room next_block(yt_out* raw, uint8_t* cur, uint64_t need) {
  raw->cur = cur;
  const yt_status status = raw->full(raw, need);
  if (status != YT_OK) throw Stopped{status};
  return {raw->cur, raw->end};
}

YUNTI_COLD inline Room emit_big(yt_out* raw, uint8_t* cur, yt_str key, yt_str value) {
  if (key.n > kRecordBytesMax || value.n > kRecordBytesMax - key.n)
    throw Error("a record of " + std::to_string(key.n) + " + " + std::to_string(value.n) +
                " bytes was emitted; key and value together have at most 2147483647: emit smaller records");
  raw->cur = cur;
  const yt_status status = raw->big(raw, key, value);
  if (status != YT_OK) throw Stopped{status};
  return {raw->cur, raw->end};
}

[[noreturn]] YUNTI_COLD inline void not_a_slice() {
  throw Error("a mapper that declares keys_are_slices emitted a key that is no slice of its input: remove the "
              "declaration");
}

[[noreturn]] YUNTI_COLD inline void not_one() {
  throw Error("a mapper that declares value_is_one emitted a value other than 1: remove the declaration");
}

// Copies 16 bytes at a time. It reads and writes up to 15 bytes too many, which are slack on both sides.
YUNTI_INLINE void copy_over(uint8_t* to, const uint8_t* from, uint64_t n) {
  // no instruction: suppresses a gcc warning about emitted literals, which never reach this function
  asm("" : "+r"(from));
  uint64_t i = 0;
  do {
#if defined(__SSE2__)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
    std::memcpy(to + i, from + i, 16);
#endif
    i += 16;
  } while (YUNTI_UNLIKELY(i < n));
}

// Bytes that may be read beyond their end: a slice of a buffer with slack.
struct Padded {
  const uint8_t* p = nullptr;
  uint64_t n = 0;
  YUNTI_INLINE bool holds(const uint8_t* q, uint64_t m) const {
    const uint64_t at = reinterpret_cast<uintptr_t>(q) - reinterpret_cast<uintptr_t>(p);
    return at <= n && m <= n - at;
  }
};

}  // namespace detail

// Output cursor of map, reduce, flush and read: emit(key, value), emit(key). Throws Error for a record of more than
// kRecordBytesMax bytes.
template <class Key, class Value, yt_form Form = YT_FORM_COPY, bool ValueIsOne = false>
class Out {
 public:
  using KeyView = View<Key>;
  using ValueView = View<Value>;

  // `input`: the batch of the slices; keys and values inside it are copied in steps of 16 bytes.
  YUNTI_INLINE Out(yt_out* raw, detail::Padded input) : cur_(raw->cur), end_(raw->end), input_(input), raw_(raw) {
    if constexpr (Form != YT_FORM_COPY) base_ = raw->ref_base;
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  // Appends a record. In the forms ONE and REF the key must be a slice of the input batch, or empty.
  YUNTI_INLINE void emit(const KeyView& key, const ValueView& value) {
    if constexpr (ValueIsOne)
      if (YUNTI_UNLIKELY(value != ValueView{1})) detail::not_one();
    if constexpr (Form == YT_FORM_COPY) {
      copy(key, value);
    } else {
      refer(key, value);
    }
  }

  // Appends a record without a value (None), or with the value 1 (value_is_one).
  YUNTI_INLINE void emit(const KeyView& key) {
    static_assert(ValueIsOne || std::is_same_v<Value, None>, "emit(key) needs Value = yunti::None, or value_is_one");
    if constexpr (ValueIsOne) {
      emit(key, ValueView{1});
    } else {
      emit(key, None{});
    }
  }

  // Form ONE: throws Error if the text is not a slice of the input batch.
  YUNTI_INLINE void check_slice(std::string_view text) const {
    if (YUNTI_UNLIKELY(!input_.holds(detail::octets(text.data()), text.size()))) detail::not_a_slice();
  }

  // Form ONE: emits n slices of a checked text, as pairs (start, end) of offsets from p.
  YUNTI_INLINE void emit_slices(const uint8_t* p, const uint32_t* edges, uint64_t n) {
    static_assert(Form == YT_FORM_ONE, "only keys that stay in the batch have offsets");
    const uint32_t offset = static_cast<uint32_t>(p - base_);
    while (n != 0) {
      if (YUNTI_UNLIKELY(room() < 8)) take(detail::next_block(raw_, cur_, 8));
      const uint64_t now = n < room() / 8 ? n : room() / 8;
      for (uint64_t i = 0; i < now; ++i) {
        const uint32_t start = edges[2 * i] + offset;
        detail::store<uint64_t>(cur_ + 8 * i, start | static_cast<uint64_t>(edges[2 * i + 1] - edges[2 * i]) << 32);
      }
      cur_ += 8 * now;
      edges += 2 * now;
      n -= now;
    }
  }

  // Returns the cursor to the engine. The loops of this library call it.
  YUNTI_INLINE void commit() { raw_->cur = cur_; }
  // Sets the buffer of the slices that follow. The loops of this library call it.
  YUNTI_INLINE void set_input(detail::Padded input) { input_ = input; }

 private:
  YUNTI_INLINE void take(detail::Room room) {
    cur_ = room.cur;
    end_ = room.end;
  }

  YUNTI_INLINE uint64_t room() const { return static_cast<uint64_t>(end_ - cur_); }

  YUNTI_INLINE void copy(const KeyView& key, const ValueView& value) {
    const uint64_t klen = detail::encoded_bytes<Key>(key), vlen = detail::encoded_bytes<Value>(value);
    const uint64_t need = (8 + klen + vlen + 7) & ~uint64_t{7};
    if (YUNTI_UNLIKELY(need > room())) {
      if (need > YT_BIG_BYTES) {
        take(detail::emit_big(raw_, cur_, bytes_of<Key>(key), bytes_of<Value>(value)));
        return;
      }
      take(detail::next_block(raw_, cur_, need));
    }
    detail::store<uint64_t>(cur_, klen | vlen << 32);
    put<Key>(cur_ + 8, key);
    put<Value>(cur_ + 8 + klen, value);
    cur_ += need;
  }

  template <class T>
  static yt_str bytes_of(const View<T>& v) {
    if constexpr (is_number<T>) {
      return {reinterpret_cast<const uint8_t*>(&v), sizeof v};
    } else if constexpr (std::is_same_v<T, None>) {
      return {nullptr, 0};
    } else {
      return detail::str(v);
    }
  }

  template <class T>
  YUNTI_INLINE void put(uint8_t* to, const View<T>& v) {
    if constexpr (is_number<T>) {
      detail::store(to, v);
    } else if constexpr (!std::is_same_v<T, None>) {
      const uint8_t* from = detail::octets(v.data());
      if (YUNTI_LIKELY(input_.holds(from, v.size()))) {
        detail::copy_over(to, from, v.size());
      } else if (v.size() != 0) {
        std::memcpy(to, from, v.size());
      }
    }
  }

  YUNTI_INLINE void refer(const std::string_view& key, const ValueView& value) {
    static_assert(std::is_same_v<Key, Bytes> && Type<Value>::bytes == 8, "references have byte keys and 8-byte values");
    constexpr uint64_t kNeed = Form == YT_FORM_REF ? 16 : 8;
    uint64_t at = reinterpret_cast<uintptr_t>(key.data()) - reinterpret_cast<uintptr_t>(base_);
    if (YUNTI_UNLIKELY(!input_.holds(detail::octets(key.data()), key.size()))) {
      if (!key.empty()) detail::not_a_slice();
      at = 0;
    }
    if (YUNTI_UNLIKELY(kNeed > room())) take(detail::next_block(raw_, cur_, kNeed));
    detail::store<uint64_t>(cur_, at | static_cast<uint64_t>(key.size()) << 32);
    if constexpr (Form == YT_FORM_REF) detail::store(cur_ + 8, value);
    cur_ += kNeed;
  }

  uint8_t *cur_, *end_;
  const uint8_t* base_ = nullptr;
  detail::Padded input_;
  yt_out* const raw_;
};

}  // namespace yunti
