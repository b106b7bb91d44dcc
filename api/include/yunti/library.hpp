// Exported symbol of a class library: the table of its classes.
//
//   YUNTI_LIBRARY("WordCount", "1.0",
//                 yunti::mapper<Tokenizer>("WordCount.Tokenizer"),
//                 yunti::reducer<SumReducer>("WordCount.SumReducer"))
//
// Use it once per library, outside of any namespace. All tables are constants; the compiler checks the names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper.hpp"

namespace yunti {
namespace detail {

constexpr bool good_name(const char* library, const char* name) {
  while (*library != 0)
    if (*library++ != *name++) return false;
  if (*name++ != '.' || *name == 0) return false;
  for (; *name != 0; ++name) {
    const char c = *name;
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'))
      return false;
  }
  return true;
}

template <uint32_t N>
struct ClassList {
  const yt_class* p[N];
};

template <size_t N>
constexpr bool good_names(const char* library, const yt_class (&classes)[N]) {
  for (const yt_class& c : classes)
    if (!good_name(library, c.name)) return false;
  return true;
}

template <size_t N>
constexpr ClassList<N> list(const yt_class (&classes)[N]) {
  ClassList<N> all{};
  for (size_t i = 0; i < N; ++i) all.p[i] = &classes[i];
  return all;
}

}  // namespace detail
}  // namespace yunti

// Defines the table of a class library: its name, its version, its classes. Use it once per library, outside of
// functions and namespaces.
#define YUNTI_LIBRARY(NAME, VERSION, ...)                                                                \
  extern "C" const yt_library* yunti_library_v0(uint32_t engine_abi) {                                   \
    static constexpr yt_class classes[] = {__VA_ARGS__};                                                 \
    static_assert(yunti::detail::good_names(NAME, classes),                                              \
                  "class names are \"" NAME ".Class\": letters, digits, '_' and '.'");                   \
    static constexpr auto list = yunti::detail::list(classes);                                           \
    static constexpr yt_library library = {sizeof(yt_library), YT_ABI_MAJOR, YT_ABI_MINOR,               \
                                           sizeof(classes) / sizeof(classes[0]), NAME, VERSION, list.p}; \
    return engine_abi >> 16 == YT_ABI_MAJOR ? &library : nullptr;                                        \
  }
