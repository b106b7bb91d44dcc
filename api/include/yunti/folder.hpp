// Folders: one small state per key, in a hash table of the engine; the fast path of every aggregation.
//
//   struct MaxState { int64_t max; };
//   struct Max : yunti::Folder<MaxState, int64_t> {                    // state, input values; then the output types
//     static constexpr bool exact = true;                              // required, see below
//     void init(State& s) { s.max = INT64_MIN; }
//     void fold(State& s, int64_t v) { s.max = std::max(s.max, v); }
//     void merge(State& s, const State& other) { s.max = std::max(s.max, other.max); }   // other comes after s
//     void finish(std::string_view key, const State& s, Out& out) { out.emit(key, s.max); }
//   };
//
// States are plain bytes, moved and spilled by memcpy: trivially copyable, at most 64 KiB, without owning pointers.
// `exact = true`: merging partial states in any order gives the same result. With false (floating-point sums) the
// engine makes states for one split each and merges them in split order, so the output does not depend on threads or
// memory.
//
// Call order for a state: init, then fold and merge any number of times, then finish once.
// Built-in folders, folded inside the engine: Count, Sum<int64_t>, Sum<double>, Min<int64_t>, Max<int64_t>.
// A folder can be registered as yunti::folder, yunti::combiner and yunti::reducer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper.hpp"

namespace yunti {

// Base of a folder: the types of its states, of its input values, and of its output values and keys.
template <class StateType, class InValueType, class ValueType = InValueType, class KeyType = Bytes>
struct Folder {
  using State = StateType;
  using InValue = InValueType;
  using Value = ValueType;
  using Key = KeyType;
  using InKey = KeyType;
  using Out = yunti::Out<KeyType, ValueType>;
  static constexpr yt_fold_known known = YT_FOLD_USER;
};

namespace detail {

template <class T, class InValueType, yt_fold_known Known>
struct KnownFold : Folder<T, InValueType, T, Any> {
  static constexpr yt_fold_known known = Known;
  static constexpr bool exact = Known != YT_FOLD_SUM_F64;
  void finish(std::string_view key, const T& s, yunti::Out<Any, T>& out) { out.emit(key, s); }
};

}  // namespace detail

// Number of values of a key, of any type.
struct Count : detail::KnownFold<int64_t, Any, YT_FOLD_COUNT> {
  void init(int64_t& s) { s = 0; }
  void fold(int64_t& s, std::string_view) { ++s; }
  void merge(int64_t& s, const int64_t& other) { s += other; }
};

// Sum of i64 or f64 values. i64 wraps around; f64 is inexact.
template <class T>
struct Sum;
template <>
struct Sum<int64_t> : detail::KnownFold<int64_t, int64_t, YT_FOLD_SUM_I64> {
  static int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) +
      static_cast<uint64_t>(b)); }
  void init(int64_t& s) { s = 0; }
  void fold(int64_t& s, int64_t v) { s = add(s, v); }
  void merge(int64_t& s, const int64_t& other) { s = add(s, other); }
};
template <>
struct Sum<double> : detail::KnownFold<double, double, YT_FOLD_SUM_F64> {
  void init(double& s) { s = 0; }
  void fold(double& s, double v) { s += v; }
  void merge(double& s, const double& other) { s += other; }
};

// Smallest i64 value.
template <class T>
struct Min;
template <>
struct Min<int64_t> : detail::KnownFold<int64_t, int64_t, YT_FOLD_MIN_I64> {
  void init(int64_t& s) { s = INT64_MAX; }
  void fold(int64_t& s, int64_t v) { s = v < s ? v : s; }
  void merge(int64_t& s, const int64_t& other) { fold(s, other); }
};

// Largest i64 value.
template <class T>
struct Max;
template <>
struct Max<int64_t> : detail::KnownFold<int64_t, int64_t, YT_FOLD_MAX_I64> {
  void init(int64_t& s) { s = INT64_MIN; }
  void fold(int64_t& s, int64_t v) { s = v > s ? v : s; }
  void merge(int64_t& s, const int64_t& other) { fold(s, other); }
};

namespace detail {

YUNTI_DETECT(declares_exact, exact);
YUNTI_DETECT(is_folder, merge(std::declval<typename T::State&>(), std::declval<const typename T::State&>()));

// Returns the folder of an instance: the object itself, or the folder inside a reducer.
template <class F>
F& folder_in(F& folder) {
  return folder;
}

// Calls f(state) on bytes that need not be aligned. A small state is copied to a local and back, in registers at no
// cost.
template <class State, class F>
YUNTI_INLINE void with_state(void* p, F&& f) {
  if constexpr (alignof(State) > 1) {
    if (sizeof(State) <= 64 || reinterpret_cast<uintptr_t>(p) % alignof(State) != 0) {
      State copy = load<State>(p);
      f(copy);
      store(p, copy);
      return;
    }
  }
  f(*static_cast<State*>(p));
}

template <class State, class F>
YUNTI_INLINE void with_state(const void* p, F&& f) {
  if constexpr (alignof(State) > 1) {
    if (sizeof(State) <= 64 || reinterpret_cast<uintptr_t>(p) % alignof(State) != 0) {
      const State copy = load<State>(p);
      f(copy);
      return;
    }
  }
  f(*static_cast<const State*>(p));
}

// Holder: the class that create() makes; it is the folder or contains it.
template <class F, class Holder>
struct YUNTI_HIDDEN FoldEntry {
  using State = typename F::State;
  using InValue = typename F::InValue;
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State> &&
      std::is_default_constructible_v<State>,
                "a folder's state is moved and spilled as plain bytes: it must be trivially copyable");
  static_assert(sizeof(State) <= 65536, "a folder's state has at most 64 KiB");
  static_assert(declares_exact<F>,
      "a folder must declare whether merge is exact: static constexpr bool exact = true or false");

  template <class Body>
  YUNTI_INLINE static yt_status each(void* self, uint32_t n, Body&& body) noexcept {
    auto& instance = Instance<Holder>::of(self);
    return guard(instance.context, [&] {
      F& folder = folder_in(instance.object);
      for (uint32_t i = 0; i < n; ++i) body(folder, i);
    });
  }

  static yt_status init(void* self, void* const* states, uint32_t n) noexcept {
    return each(self, n, [&](F& folder, uint32_t i) {
      State state{};
      folder.init(state);
      store(states[i], state);
    });
  }

  static yt_status fold(void* self, void* const* states, const yt_str* values, const uint64_t* v8,
      uint32_t n) noexcept {
    return each(self, n, [&](F& folder, uint32_t i) {
      View<InValue> value{};
      if constexpr (Type<InValue>::bytes == 8) {
        if (v8 == nullptr) wrong_value();
        value = load<InValue>(v8 + i);
      } else if (v8 != nullptr) {
        if (!decode<InValue>(reinterpret_cast<const uint8_t*>(v8 + i), 8, value)) wrong_value();
      } else if (values != nullptr) {
        if (!decode<InValue>(values[i].p, values[i].n, value)) wrong_value();
      }
      with_state<State>(states[i], [&](State& state) { folder.fold(state, value); });
    });
  }

  static yt_status merge(void* self, void* const* into, const void* const* from, uint32_t n) noexcept {
    return each(self, n, [&](F& folder, uint32_t i) {
      with_state<State>(into[i],
          [&](State& a) { with_state<State>(from[i], [&](const State& b) { folder.merge(a, b); }); });
    });
  }

  static yt_status finish(void* self, const yt_str* keys, const void* const* states, uint32_t n, yt_out* raw) noexcept {
    auto& instance = Instance<Holder>::of(self);
    return guard(instance.context, [&] {
      F& folder = folder_in(instance.object);
      Out<typename F::Key, typename F::Value> out(raw, Padded{});
      for (uint32_t i = 0; i < n; ++i) {
        View<typename F::InKey> key{};
        if (!decode<typename F::InKey>(keys[i].p, keys[i].n, key)) wrong_key();
        out.set_input(Padded{keys[i].p, keys[i].n});
        with_state<State>(states[i], [&](const State& state) { folder.finish(key, state, out); });
      }
      out.commit();
    });
  }

  [[noreturn]] YUNTI_COLD static void wrong_value() {
    throw Error("the folder's values differ in length from the mapper's: declare the same value type in both");
  }
  [[noreturn]] YUNTI_COLD static void wrong_key() {
    throw Error("the folder's keys differ in length from the mapper's: declare the same key type in both");
  }

  static constexpr yt_folder make() {
    yt_folder f{};
    f.size = sizeof f;
    f.state_size = sizeof(State);
    f.known = F::known;
    f.exact = F::exact;
    if (F::known == YT_FOLD_USER) {  // the engine never calls the functions of a known fold
      f.init = init;
      f.fold = fold;
      f.merge = merge;
      f.finish = finish;
    }
    return f;
  }
  static constexpr yt_folder table = make();
};

}  // namespace detail

// Returns the table entry of a folder; name: "Library.Class".
template <class F>
constexpr yt_class folder(const char* name) {
  static_assert(detail::is_folder<F>,
      "a folder derives from yunti::Folder<State, InValue> and has init, fold, merge and finish");
  yt_class c = detail::typed_class_entry<F>(YT_FOLDER, name);
  c.in_value_type = Type<typename F::InValue>::id;
  c.folder = &detail::FoldEntry<F, F>::table;
  c.flush = detail::Flush<F>::entry();
  return c;
}

}  // namespace yunti
