// Words of a text, cut as Hadoop's word count cuts them (java.util.StringTokenizer): at space, tab, LF, CR and form
// feed. All other bytes belong to a word, also 0 and invalid UTF-8.
//
//   yunti::words(text, out);                          // emits each word, with a 1 unless the values are None
//   yunti::words(text, [&](std::string_view word) {   // calls the function with each word
//     out.emit(word);
//   });
//
// Words are slices of the text. In long texts (spans) the engine finds them, by SIMD chosen at run time: 0.7-1.5 ns per
// word of ten letters. In short texts (lines), and outside of the engine, this header finds them: 3-4.5 ns. A loop over
// the bytes takes 8-20 ns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../context.hpp"
#include "mask.hpp"
#include "../out.hpp"

namespace yunti {
namespace detail {

// Walk over masks of 64 bytes; a word may begin in one and end in a later one.
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
  // Without a remaining start, start_ becomes garbage that is set again before its use: cheaper than a branch.
  YUNTI_INLINE void next_start(const uint8_t* p, uint64_t& starts) {
    start_ = p + lowest(starts | uint64_t{1} << 63);
    starts &= starts - 1;
  }

  const uint8_t* start_;
  uint64_t in_word_ = 0;  // 1: the byte before this block belongs to a word
};

// Bytes of text from which on the engine finds the words.
inline constexpr uint64_t kLongText = 512;

// Calls f(p, edges, n) with the words of a long text, piece by piece: n pairs (start, end) of offsets from p. The first
// word may begin before p; its start is then negative.
template <class F>
YUNTI_INLINE void each_piece(FindEdges find, std::string_view text, F&& f) {
  constexpr int32_t kPiece = 4096, kLongest = 1 << 30;
  uint32_t edges[kPiece + 66];
  uint64_t open = 0;  // 1: edges[0] is the start of a word that goes on
  uint32_t before = 1;
  const uint8_t* p = octets(text.data());
  const uint8_t* const text_end = p + text.size();
  for (;; p += kPiece) {
    const uint64_t left = static_cast<uint64_t>(text_end - p);
    const bool last = left <= kPiece;
    uint64_t n = open + find(p, last ? left : kPiece, kSpaces, sizeof kSpaces, 0, &before, edges + open);
    if (last && n % 2 != 0) edges[n++] = static_cast<uint32_t>(left);
    f(p, edges, n / 2);
    if (last) return;
    open = n % 2;
    const int32_t start = static_cast<int32_t>(edges[n - open]) - kPiece;
    if (YUNTI_UNLIKELY(open != 0 && start < -kLongest))
      throw Error("a word has more than 1 GiB: cut the text differently; a record has less than 2 GiB");
    edges[0] = static_cast<uint32_t>(start);
  }
}

template <class F>
YUNTI_INLINE void long_words(FindEdges find, std::string_view text, F&& f) {
  each_piece(find, text, [&](const uint8_t* p, const uint32_t* edges, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) {
      const uint32_t start = edges[2 * i];
      f(view(p + static_cast<int32_t>(start), edges[2 * i + 1] - start));
    }
  });
}

}  // namespace detail

// Calls f(word) for each word, or emits each word to an Out; a word is a slice of the text.
template <class F>
YUNTI_INLINE void words(std::string_view text, F&& f) {
  if (text.size() >= detail::kLongText)
    if (const auto find = detail::engine_edges()) return detail::long_words(find, text, f);
  const uint8_t* p = detail::octets(text.data());
  const uint8_t* const end = p + text.size();
  detail::WordWalk walk(p);
  for (;; p += 64) {
    const uint64_t left = static_cast<uint64_t>(end - p);
    // Bytes after the end count as separators: they end the last word.
    walk.block(p, YUNTI_LIKELY(left >= 64) ? detail::mask64(p, detail::IsSpace{})
                                           : detail::mask_tail(p, left, detail::IsSpace{}) | ~uint64_t{0} << left, f);
    if (left < 64) return;
  }
}

template <class Key, class Value, yt_form Form, bool ValueIsOne>
YUNTI_INLINE void words(std::string_view text, Out<Key, Value, Form, ValueIsOne>& out) {
  if constexpr (Form == YT_FORM_ONE) {
    if (text.size() >= detail::kLongText)
      if (const auto find = detail::engine_edges()) {
        // Many words at once take a quarter of the instructions.
        out.check_slice(text);
        return detail::each_piece(find, text,
            [&](const uint8_t* p, const uint32_t* edges, uint64_t n) { out.emit_slices(p, edges, n); });
      }
  }
  words(text, [&](std::string_view word) {
    if constexpr (ValueIsOne || std::is_same_v<Value, None>) {
      out.emit(word);
    } else {
      out.emit(word, 1);
    }
  });
}

}  // namespace yunti
