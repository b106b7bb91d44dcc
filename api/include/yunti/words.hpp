// Words of a text, cut as Hadoop's word count cuts them (java.util.StringTokenizer): at space, tab, LF, CR and form feed.
// Bytes, not characters: every other byte, 0 and invalid UTF-8 too, belongs to a word.
//
//   yunti::words(context, text, out);                          // emits each word, with a 1 unless the values are None
//   yunti::words(context, text, [&](std::string_view word) {   // calls with each word
//     out.emit(word);
//   });
//   yunti::words(text, ..);                                    // without a context, or for short lines
//
// Words are slices of the text. With a context the engine finds them, by SIMD chosen at run time: 0.7-1.5 ns for a word of ten letters;
// without, 3-4.5 ns; a loop over the bytes takes 8-10.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.hpp"
#include "mask.hpp"
#include "out.hpp"

namespace yunti {
namespace detail {

// Walks masks of 64 bytes; a word may begin in one and end in a later one.
class WordWalk {
 public:
  YUNTI_INLINE WordWalk(const uint8_t* begin) : start_(begin) {}

  template <class F>
  YUNTI_INLINE void block(const uint8_t* p, uint64_t separators, F&& f) {
    const uint64_t letters = ~separators, after_letter = letters << 1 | in_word_;
    uint64_t ends = separators & after_letter, starts = letters & ~after_letter;
    if (!in_word_) next_start(p, starts);
    in_word_ = letters >> 63;
    while (ends != 0) {
      const uint8_t* end = p + lowest(ends);
      ends &= ends - 1;
      f(view(start_, static_cast<uint64_t>(end - start_)));
      next_start(p, starts);
    }
  }

 private:
  // Where no start is left, start_ becomes garbage that is set again before it is used: cheaper than a branch.
  YUNTI_INLINE void next_start(const uint8_t* p, uint64_t& starts) {
    start_ = p + lowest(starts | uint64_t{1} << 63);
    starts &= starts - 1;
  }

  const uint8_t* start_;
  uint64_t in_word_ = 0;  // 1: the byte before this block belongs to a word
};

// The edges of words in a piece of text, by the engine, or by this header where the engine is older than that.
YUNTI_INLINE uint64_t word_edges(const yt_context* context, const uint8_t* p, uint64_t n, uint32_t base, uint32_t& before, uint32_t* to) {
  if (YUNTI_LIKELY(context->abi_minor >= 2)) return context->edges(p, n, kSpaces, sizeof kSpaces, base, &before, to);
  uint64_t found = 0;
  for (uint64_t i = 0; i < n; i += 64) {
    const uint64_t left = n - i, known = left >= 64 ? ~uint64_t{0} : ~(~uint64_t{0} << left);
    const uint64_t spaces = left >= 64 ? mask64(p + i, IsSpace{}) : mask_tail(p + i, left, IsSpace{});
    for (uint64_t edges = (spaces ^ (spaces << 1 | before)) & known; edges != 0; edges &= edges - 1)
      to[found++] = static_cast<uint32_t>(base + i + lowest(edges));
    before = static_cast<uint32_t>(spaces >> ((left >= 64 ? 64 : left) - 1)) & 1;
  }
  return found;
}

}  // namespace detail

// Each of the next two calls f at one place, so that gcc inlines it even where it is long: then the cursor of `out` stays in registers.
template <class F>
YUNTI_INLINE void words(std::string_view text, F&& f) {
  const uint8_t* p = detail::octets(text.data());
  const uint8_t* const end = p + text.size();
  detail::WordWalk walk(p);
  for (;; p += 64) {
    const uint64_t left = static_cast<uint64_t>(end - p);
    // What stands behind the end counts as separators: they end the last word.
    walk.block(p, YUNTI_LIKELY(left >= 64) ? detail::mask64(p, detail::IsSpace{})
                                           : detail::mask_tail(p, left, detail::IsSpace{}) | ~uint64_t{0} << left, f);
    if (left < 64) return;
  }
}

template <class F>
YUNTI_INLINE void words(const Context& context, std::string_view text, F&& f) {
  constexpr int32_t kPiece = 4096, kLongest = 1 << 30;
  uint32_t edges[kPiece + 66];  // start, end, start, end .. of the words of a piece
  uint64_t open = 0;            // 1: edges[0] is the start of a word that began in an earlier piece, before 0 then
  uint32_t before = 1;
  const uint8_t* p = detail::octets(text.data());
  const uint8_t* const text_end = p + text.size();
  for (;; p += kPiece) {
    const uint64_t left = static_cast<uint64_t>(text_end - p);
    const bool last = left <= kPiece;
    uint64_t n = open + detail::word_edges(context.raw(), p, last ? left : kPiece, 0, before, edges + open);
    if (last && n % 2 != 0) edges[n++] = static_cast<uint32_t>(left);
    for (uint64_t i = 0; i + 1 < n; i += 2) {
      const uint32_t start = edges[i];
      f(detail::view(p + static_cast<int32_t>(start), edges[i + 1] - start));
    }
    if (last) return;
    open = n % 2;
    const int32_t start = static_cast<int32_t>(edges[n - open]) - kPiece;
    if (YUNTI_UNLIKELY(open != 0 && start < -kLongest)) throw Error("a word of more than 1 GiB: cut it by words(text, ..)");
    edges[0] = static_cast<uint32_t>(start);
  }
}

// Emits each word: in the form ONE, many at once, for a quarter of the instructions.
template <class Key, class Value, yt_form Form, bool ValueIsOne>
YUNTI_INLINE void words(const Context& context, std::string_view text, Out<Key, Value, Form, ValueIsOne>& out) {
  if constexpr (Form == YT_FORM_ONE) {
    constexpr uint64_t kPiece = 4096;
    const uint64_t offset = out.offset_of(text);
    uint32_t edges[kPiece + 66], before = 1;
    uint64_t open = 0;
    for (uint64_t at = 0; at < text.size(); at += kPiece) {
      const uint64_t bytes = text.size() - at < kPiece ? text.size() - at : kPiece;
      const uint64_t n = open + detail::word_edges(context.raw(), detail::octets(text.data()) + at, bytes,
                                                   static_cast<uint32_t>(offset + at), before, edges + open);
      out.emit_slices(edges, n / 2);
      open = n % 2;
      edges[0] = edges[n - open];
    }
    edges[1] = static_cast<uint32_t>(offset + text.size());
    out.emit_slices(edges, open);
  } else if constexpr (ValueIsOne || std::is_same_v<Value, None>) {
    words(context, text, [&](std::string_view word) { out.emit(word); });
  } else {
    words(context, text, [&](std::string_view word) { out.emit(word, 1); });
  }
}

}  // namespace yunti
