// Types of keys and values: C++ types and their layout in a batch.
//
//   C++ type          yt_type   in memory                      in user code
//   yunti::None       YT_NONE   nothing                        (no argument)
//   yunti::Bytes      YT_BYTES  any bytes                      std::string_view
//   int32_t .. double YT_I32 .. 4 or 8 bytes, little-endian    the number
//   yunti::Any        YT_NONE   bytes of any type              std::string_view
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "../yunti.h"

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Yunti needs a little-endian machine"
#endif

namespace yunti {

// Type of a missing value; text output then has no tab.
struct None {};
// Bytes of any length, ordered byte by byte; user code sees a std::string_view.
struct Bytes {};
// Type of any input, as bytes. As the key type of a reducer, combiner or folder: the type of its input keys.
struct Any {};

template <class T>
struct Type;  // error here: not a type of keys or values; use Bytes, None, Any, (u)int32/64_t, float, double

template <>
struct Type<None> {
  using View = None;
  static constexpr yt_type id = YT_NONE;
  static constexpr uint32_t bytes = 0;
};
template <>
struct Type<Bytes> {
  using View = std::string_view;
  static constexpr yt_type id = YT_BYTES;
  static constexpr uint32_t bytes = 0;  // 0: any length
};
template <>
struct Type<Any> {
  using View = std::string_view;
  static constexpr yt_type id = YT_NONE;
  static constexpr uint32_t bytes = 0;
};

namespace detail {
template <class T, yt_type Id>
struct NumberType {
  using View = T;
  static constexpr yt_type id = Id;
  static constexpr uint32_t bytes = sizeof(T);
};
}  // namespace detail

template <> struct Type<int32_t> : detail::NumberType<int32_t, YT_I32> {};
template <> struct Type<int64_t> : detail::NumberType<int64_t, YT_I64> {};
template <> struct Type<uint32_t> : detail::NumberType<uint32_t, YT_U32> {};
template <> struct Type<uint64_t> : detail::NumberType<uint64_t, YT_U64> {};
template <> struct Type<float> : detail::NumberType<float, YT_F32> {};
template <> struct Type<double> : detail::NumberType<double, YT_F64> {};

// User code's view of a T: std::string_view, or the number itself.
template <class T>
using View = typename Type<T>::View;

// True if T is a number type.
template <class T>
inline constexpr bool is_number = Type<T>::bytes != 0;

namespace detail {

inline const char* chars(const uint8_t* p) { return reinterpret_cast<const char*>(p); }
inline const uint8_t* octets(const char* p) { return reinterpret_cast<const uint8_t*>(p); }
inline std::string_view view(const uint8_t* p, uint64_t n) { return {chars(p), static_cast<size_t>(n)}; }
inline std::string_view view(yt_str s) { return view(s.p, s.n); }
inline yt_str str(std::string_view s) { return {octets(s.data()), s.size()}; }

template <class T>
inline T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
inline void store(void* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// Decodes a view of a T from its bytes; false if a number has the wrong length.
template <class T>
inline bool decode(const uint8_t* p, uint64_t n, View<T>& v) {
  if constexpr (is_number<T>) {
    if (n != sizeof(T)) return false;
    v = load<T>(p);
  } else if constexpr (Type<T>::id == YT_BYTES || std::is_same_v<T, Any>) {
    v = view(p, n);
  }
  return true;
}

template <class T>
inline uint64_t encoded_bytes(const View<T>& v) {
  if constexpr (is_number<T>) {
    return sizeof(T);
  } else if constexpr (std::is_same_v<T, None>) {
    return 0;
  } else {
    return v.size();
  }
}

}  // namespace detail
}  // namespace yunti

#define YUNTI_LIKELY(x) __builtin_expect(!!(x), 1)
#define YUNTI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define YUNTI_INLINE inline __attribute__((always_inline))
#define YUNTI_COLD __attribute__((noinline, cold))
#if defined(__clang__)
// flattens this function's calls only; gcc would flatten all calls below, cold ones too
#define YUNTI_FLATTEN __attribute__((flatten))
#else
#define YUNTI_FLATTEN
#endif
// Hidden visibility: two libraries may both have a class Tokenizer, and the loader must not share their code.
#define YUNTI_HIDDEN __attribute__((visibility("hidden")))
