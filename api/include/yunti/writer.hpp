// Writers: user code that makes the bytes of an output, for formats that the engine does not know.
//
//   struct List : yunti::Writer<yunti::Bytes, int64_t> {                       // input types; yunti::Any: any type
//     static constexpr const char* extension = ".xml";                         // part-r-00000.xml
//     void begin(yunti::Sink& out) { out.put("<list>\n"); }                    // optional: the head of each part
//     void write(std::string_view key, int64_t value, yunti::Sink& out) {
//       out.put("<item n='").number(value).put("'/>\n");
//     }
//     void end(yunti::Sink& out) { out.put("</list>\n"); }                     // optional: the foot of each part
//   };
//
// Several instances write stretches of a part in parallel, so the bytes of a record must depend on that record alone.
// With
//   static constexpr bool whole_part = true;
// one instance writes a part from begin to end in order. It may count, compare with the previous record, or write an
// index. Call order: begin, write for each record, end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <charconv>

#include "mapper.hpp"

namespace yunti {

// Byte output of a writer. The bytes go to the part, compressed if the job sets a codec.
class Sink {
 public:
  explicit Sink(yt_out* raw) : cur_(raw->cur), end_(raw->end), raw_(raw) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Appends bytes.
  YUNTI_INLINE Sink& put(std::string_view bytes) {
    if (YUNTI_UNLIKELY(bytes.size() > room())) {
      make_room(bytes);
      return *this;
    }
    if (!bytes.empty()) std::memcpy(cur_, bytes.data(), bytes.size());
    cur_ += bytes.size();
    return *this;
  }

  // Appends one byte.
  YUNTI_INLINE Sink& put(char byte) {
    if (YUNTI_UNLIKELY(room() == 0)) take(detail::next_block(raw_, cur_, 1));
    *cur_++ = static_cast<uint8_t>(byte);
    return *this;
  }

  // Appends an integer in decimal.
  template <class T>
  Sink& number(T value) {
    static_assert(std::is_integral_v<T>,
        "number() takes integers; format other numbers with std::to_chars or std::snprintf");
    char digits[24];
    const auto done = std::to_chars(digits, digits + sizeof digits, value);
    return put(std::string_view(digits, static_cast<size_t>(done.ptr - digits)));
  }

  // Appends a value as it is in memory: numbers little-endian.
  template <class T>
  Sink& raw(T value) {
    static_assert(std::is_trivially_copyable_v<T>, "raw() takes trivially copyable types only");
    return put(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }

  // Returns the cursor to the engine. The loops of this library call it.
  YUNTI_INLINE void commit() { raw_->cur = cur_; }

 private:
  YUNTI_INLINE size_t room() const { return static_cast<size_t>(end_ - cur_); }
  YUNTI_INLINE void take(detail::Room room) {
    cur_ = room.cur;
    end_ = room.end;
  }

  YUNTI_COLD void make_room(std::string_view bytes) {
    if (bytes.size() > YT_BIG_BYTES) {
      take(detail::emit_big(raw_, cur_, detail::str(bytes), yt_str{nullptr, 0}));
      return;
    }
    take(detail::next_block(raw_, cur_, bytes.size()));
    put(bytes);
  }

  uint8_t *cur_, *end_;
  yt_out* const raw_;
};

// Base of a writer: the types of its input.
template <class KeyType, class ValueType>
struct Writer {
  using Key = KeyType;
  using Value = ValueType;
  static constexpr bool whole_part = false;
  static constexpr const char* extension = nullptr;
};

namespace detail {

YUNTI_DETECT(writes_record, write(std::declval<const View<typename T::Key>&>(),
    std::declval<const View<typename T::Value>&>(), std::declval<Sink&>()));
YUNTI_DETECT(writes_key, write(std::declval<const View<typename T::Key>&>(), std::declval<Sink&>()));
YUNTI_DETECT(has_begin_part, begin(std::declval<Sink&>()));
YUNTI_DETECT(has_end_part, end(std::declval<Sink&>()));

template <class W>
struct YUNTI_HIDDEN WriteEntry {
  static_assert(writes_record<W> || writes_key<W>,
      "a writer needs write(key, value, yunti::Sink&), or write(key, yunti::Sink&)");

  template <class F>
  YUNTI_INLINE static yt_status with(void* self, yt_out* raw, F&& call) noexcept {
    auto& instance = Instance<W>::of(self);
    return guard(instance.context, [&] {
      Sink out(raw);
      call(instance.object, out);
      out.commit();
    });
  }

  static yt_status begin(void* self, yt_out* raw) noexcept {
    return with(self, raw, [](W& writer, Sink& out) {
      if constexpr (has_begin_part<W>) writer.begin(out);
    });
  }

  static yt_status end(void* self, yt_out* raw) noexcept {
    return with(self, raw, [](W& writer, Sink& out) {
      if constexpr (has_end_part<W>) writer.end(out);
    });
  }

  static yt_status write(void* self, const yt_batch* batch, yt_out* raw) noexcept {
    return with(self, raw, [batch](W& writer, Sink& out) __attribute__((always_inline)) {
      for (uint32_t i = 0; i < batch->n; ++i) {
        View<typename W::Key> key{};
        View<typename W::Value> value{};
        if (YUNTI_UNLIKELY(!decode<typename W::Key>(batch->base + batch->koff[i], batch->klen[i], key) ||
                           !decode<typename W::Value>(batch->base + batch->voff[i], batch->vlen[i], value)))
          throw Error("the writer's keys or values differ in length from the job's: declare the job's types");
        if constexpr (writes_record<W>) {
          writer.write(key, value, out);
        } else {
          writer.write(key, out);
        }
      }
    });
  }

  static constexpr yt_writer table = {sizeof(yt_writer),                   W::whole_part ? YT_WHOLE_PART
      : 0, has_begin_part<W> ? begin : nullptr, write,
                                      has_end_part<W> ? end : nullptr, W::extension};
};

}  // namespace detail

// Returns the table entry of a writer; name: "Library.Class".
template <class W>
constexpr yt_class writer(const char* name) {
  yt_class c = detail::typed_class_entry<W>(YT_WRITER, name);
  c.writer = &detail::WriteEntry<W>::table;
  return c;
}

}  // namespace yunti
