// Mappers: user code that makes records from the input's records.
//
//   struct Tokenizer : yunti::Mapper<yunti::Bytes, int64_t> {           // output types: key and value
//     static constexpr bool keys_are_slices = true;                     // promise: each key is a slice of the input
//     static constexpr bool value_is_one = true;                        // promise: each value is 1
//     template <class Out>
//     void map_span(const yunti::Span& span, Out& out) {
//       yunti::words(span.text, [&](std::string_view word) { out.emit(word); });
//     }
//   };
//
// A mapper has one or more of these functions. The engine calls the first that fits the input, inlined, once per record
// (map_span: once per batch):
//   map_span(const Span&, out)           whole lines of text with their ends, many at once: the fastest for text
//   map(uint64_t position, value, out)   text: the line and its byte offset in the file
//   map(key, value, out)                 input with stored keys
//   map(value, out)                      any input
// A mapper without promises may name its out type: `void map(std::string_view line, Out& out)`. With promises it is
// compiled once per form of output, so `out` must be a template parameter. Optional: begin_batch(const yt_batch&)
// before each batch, and flush(Out&) at the end of the task.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.hpp"
#include "out.hpp"

namespace yunti {

// Base of a mapper: the types of its output, and its promises about it. A broken promise ends the job if the engine
// relies on it.
template <class KeyType, class ValueType>
struct Mapper {
  using Key = KeyType;
  using Value = ValueType;
  using Out = yunti::Out<KeyType, ValueType>;
  static constexpr bool keys_are_slices = false;
  static constexpr bool value_is_one = false;
};

// Whole records of text with their line ends, valid until map_span returns.
struct Span {
  std::string_view text;
  uint64_t position;    // byte offset of the text in the (decompressed) file
  uint32_t file_index;  // index of the file in the job's input, from 0
  operator std::string_view() const { return text; }
};

namespace detail {

template <class M, yt_form Form>
using MapOut = Out<typename M::Key, typename M::Value, Form, M::value_is_one>;
template <class M>
using FlushOut = Out<typename M::Key, typename M::Value>;

// Output of a mapper without promises: yunti::Out<Key, Value>.
template <class M>
using CopyOut = MapOut<M, YT_FORM_COPY>;

#define YUNTI_DETECT(name, call)                                            \
  template <class T, class = void>                                          \
  inline constexpr bool name = false;                                       \
  template <class T>                                                        \
  inline constexpr bool name<T, std::void_t<decltype(std::declval<T&>().call)>> = true

YUNTI_DETECT(has_map_span, map_span(std::declval<const Span&>(), std::declval<CopyOut<T>&>()));
YUNTI_DETECT(has_map_at, map(std::declval<uint64_t>(), std::declval<std::string_view>(), std::declval<CopyOut<T>&>()));
YUNTI_DETECT(has_map_key, map(std::declval<std::string_view>(), std::declval<std::string_view>(),
    std::declval<CopyOut<T>&>()));
YUNTI_DETECT(has_map_value, map(std::declval<std::string_view>(), std::declval<CopyOut<T>&>()));
YUNTI_DETECT(has_begin_batch, begin_batch(std::declval<const yt_batch&>()));
YUNTI_DETECT(has_flush, flush(std::declval<FlushOut<T>&>()));

template <class M>
constexpr uint32_t mapper_flags() {
  uint32_t flags = has_map_span<M> ? YT_WANTS_SPAN : 0;
  if (M::keys_are_slices && Type<typename M::Value>::bytes == 8) flags |= YT_EMITS_REFS;
  if (M::keys_are_slices && M::value_is_one) flags |= YT_EMITS_ONE;
  return flags;
}

// Entry of flush() for any class that emits; null without one.
template <class T>
struct YUNTI_HIDDEN Flush {
  static yt_status flush(void* self, yt_out* raw) noexcept {
    auto& instance = Instance<T>::of(self);
    return guard(instance.context, [&] {
      FlushOut<T> out(raw, Padded{});
      instance.object.flush(out);
      out.commit();
    });
  }

  static constexpr auto entry() -> yt_status (*)(void*, yt_out*) {
    if constexpr (has_flush<T>) {
      return flush;
    } else {
      return nullptr;
    }
  }
};

template <class M>
struct YUNTI_HIDDEN MapEntry {
  static constexpr uint32_t flags = mapper_flags<M>();
  static_assert(has_map_span<M> || has_map_at<M> || has_map_key<M> || has_map_value<M>,
                "a mapper needs map_span(const yunti::Span&, out), map(uint64_t, std::string_view, out), "
                "map(std::string_view, std::string_view, out) or map(std::string_view, out); "
                "with keys_are_slices or value_is_one it is a template: template <class Out> "
                "void map(std::string_view value, Out& out)");
  static_assert(!M::keys_are_slices || std::is_same_v<typename M::Key, Bytes>, "keys that are slices are yunti::Bytes");
  static_assert(!M::value_is_one || std::is_same_v<typename M::Value, int64_t> || std::is_same_v<typename M::Value,
      uint64_t>,
                "value_is_one needs a value type of int64_t or uint64_t");

  static yt_status map(void* self, const yt_batch* batch, yt_out* raw) noexcept {
    auto& instance = Instance<M>::of(self);
    return guard(instance.context, [&] {
      if constexpr (has_begin_batch<M>) instance.object.begin_batch(*batch);
      if constexpr ((flags & YT_EMITS_ONE) != 0)
        if (raw->form == YT_FORM_ONE) return run<YT_FORM_ONE>(instance.object, *batch, raw);
      if constexpr ((flags & YT_EMITS_REFS) != 0)
        if (raw->form == YT_FORM_REF) return run<YT_FORM_REF>(instance.object, *batch, raw);
      if (raw->form != YT_FORM_COPY) throw Error("the engine requests a form of records that the mapper cannot emit");
      run<YT_FORM_COPY>(instance.object, *batch, raw);
    });
  }

  // Each loop calls the user's function in one place, so the compiler inlines it and keeps the cursor in registers.
  template <yt_form Form>
  __attribute__((noinline)) YUNTI_FLATTEN static void run(M& mapper, const yt_batch& batch, yt_out* raw) {
    MapOut<M, Form> out(raw, Padded{batch.base, batch.bytes});
    const uint8_t* const base = batch.base;
    const bool span = batch.voff == nullptr, stored = batch.koff != nullptr;
    if (has_map_span<M> && (span || !(has_map_at<M> || has_map_value<M> || (stored && has_map_key<M>)))) {
      if constexpr (has_map_span<M>) {
        const uint32_t n = span ? 1 : batch.n;
        for (uint32_t i = 0; i < n; ++i) {
          const uint64_t at = span ? 0 : batch.voff[i], bytes = span ? batch.bytes : batch.vlen[i];
          mapper.map_span(Span{view(base + at, bytes), batch.first_position + at, batch.file_index}, out);
        }
      }
    } else if (span) {
      throw Error("the engine passed a span of text to a mapper of records");
    } else if (has_map_key<M> && (stored || !(has_map_at<M> || has_map_value<M>))) {
      if constexpr (has_map_key<M>) {
        if (!stored) throw Error("the mapper takes a key and a value, but the input is text without keys");
        for (uint32_t i = 0; i < batch.n; ++i)
          mapper.map(view(base + batch.koff[i], batch.klen[i]), view(base + batch.voff[i], batch.vlen[i]), out);
      }
    } else {
      for (uint32_t i = 0; i < batch.n; ++i) {
        const std::string_view value = view(base + batch.voff[i], batch.vlen[i]);
        if constexpr (has_map_at<M>) {
          mapper.map(batch.first_position + (stored ? batch.koff[i] : batch.voff[i]), value, out);
        } else if constexpr (has_map_value<M>) {
          mapper.map(value, out);
        }
      }
    }
    out.commit();
  }
};

}  // namespace detail

// Returns the table entry of a mapper; name: "Library.Class".
template <class M>
constexpr yt_class mapper(const char* name) {
  yt_class c = detail::typed_class_entry<M>(YT_MAPPER, name);
  c.flags = detail::MapEntry<M>::flags;
  c.map = detail::MapEntry<M>::map;
  c.flush = detail::Flush<M>::entry();
  return c;
}

}  // namespace yunti
