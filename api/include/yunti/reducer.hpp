// Reducers and combiners: user code that receives each key with all of its values, in key order.
//
//   struct SumReducer : yunti::Reducer<yunti::Bytes, int64_t> {        // output key and value; then the input types
//     void reduce(std::string_view key, yunti::Values<int64_t>& values, Out& out) {
//       int64_t sum = 0;
//       for (int64_t v : values) sum += v;
//       out.emit(key, sum);
//     }
//   };
//
// A class has one of two shapes:
//   reduce(key, values, out)
//       All values at once. A group that fits a batch (nearly every one) is read in place. A longer group is collected
//       first, in memory of this class, outside of the job's --memory: 8 bytes per value plus the bytes of values that
//       are no 8-byte numbers. Above 64 MiB (-D yunti.reduce.buffer.bytes=..) the job ends with an error.
//   begin(key); add(value) ..; end(key, out)
//       A group value by value, in constant memory, for any length. A key is valid during its call only. Use
//       add(key, value) if groups share only a part of the key (key_order.hpp).
// A folder (folder.hpp) can be registered as a reducer and as a combiner. It needs constant memory, and the engine may
// fold instead of sort.
//
// Promises: `static constexpr bool pure = true`: the output for a group depends on that group alone (counters do not
// count), so several instances may share a partition. `using Fold = yunti::Sum<int64_t>`: the class computes this known
// fold. Optional: flush(Out&) at the end of the task.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "folder.hpp"
#include "text/numbers.hpp"
#include "values.hpp"

namespace yunti {

// Base of a reducer or combiner: the types of its output and of its input.
template <class KeyType, class ValueType, class InValueType = ValueType, class InKeyType = KeyType>
struct Reducer {
  using Key = KeyType;
  using Value = ValueType;
  using InValue = InValueType;
  using InKey = InKeyType;
  using Out = yunti::Out<KeyType, ValueType>;
  static constexpr bool pure = false;
};

namespace detail {

// Reducer of the second shape around a folder.
template <class F>
struct FoldReducer {
  using Key = typename F::Key;
  using Value = typename F::Value;
  using InValue = typename F::InValue;
  using InKey = typename F::InKey;
  static constexpr bool pure = false;

  explicit FoldReducer(Context& context) : folder(Instance<F>::make(context)) {}

  void begin(const View<InKey>&) {
    state = typename F::State{};
    folder.init(state);
  }
  YUNTI_INLINE void add(const View<InValue>& value) { folder.fold(state, value); }
  void end(const View<InKey>& key, Out<Key, Value>& out) { folder.finish(key, state, out); }

  F folder;
  typename F::State state{};
};

template <class R>
using ReduceOut = Out<typename R::Key, typename R::Value>;
template <class R>
using InKeyView = View<typename R::InKey>;

YUNTI_DETECT(has_reduce, reduce(std::declval<const InKeyView<T>&>(), std::declval<Values<typename T::InValue>&>(),
                                std::declval<ReduceOut<T>&>()));
YUNTI_DETECT(has_end, end(std::declval<const InKeyView<T>&>(), std::declval<ReduceOut<T>&>()));

YUNTI_DETECT(adds_with_key, add(std::declval<std::string_view>(), std::declval<const View<typename T::InValue>&>()));

template <class T, class = void>
inline constexpr bool declares_fold = false;
template <class T>
inline constexpr bool declares_fold<T, std::void_t<typename T::Fold>> = true;

// A reducer and the buffer for groups that span batches.
template <class R>
struct YUNTI_HIDDEN Reducing {
  using Key = typename R::Key;
  using Value = typename R::Value;

  explicit Reducing(Context& context) : user(Instance<R>::make(context)), buffer(buffer_bytes_max(context)) {}

  static uint64_t buffer_bytes_max(Context& context) {
    const auto text = context.config("yunti.reduce.buffer.bytes");
    if (!text) return uint64_t{64} << 20;
    const auto bytes = parse_i64(*text);
    if (!bytes || *bytes < 0)
      throw Error("yunti.reduce.buffer.bytes must be a number of bytes, not " + std::string(*text));
    return static_cast<uint64_t>(*bytes);
  }

  template <class O, class U = R>
  auto flush(O& out) -> std::enable_if_t<has_flush<U>> {
    user.flush(out);
  }

  R user;
  GroupBuffer buffer;
};

template <class F>
F& folder_in(Reducing<FoldReducer<F>>& reducing) {
  return reducing.user.folder;
}

template <class R>
struct YUNTI_HIDDEN ReduceEntry {
  using InValue = typename R::InValue;
  static_assert(has_reduce<R> || has_end<R>,
      "a reducer needs reduce(key, yunti::Values<InValue>&, Out&), or begin(key), add(value) and end(key, Out&)");

  static yt_status reduce(void* self, const yt_groups* groups, yt_out* raw) noexcept {
    auto& instance = Instance<Reducing<R>>::of(self);
    return guard(instance.context, [&] {
      ReduceOut<R> out(raw, Padded{});
      const bool has_cont = (groups->flags & YT_GROUP_CONT) != 0, has_more = (groups->flags & YT_GROUP_MORE) != 0;
      for (uint32_t i = 0; i < groups->n; ++i) {
        const bool first_part = !(has_cont && i == 0), last_part = !(has_more && i == groups->n - 1);
        one(instance.object, *groups, i, first_part, last_part, out);
      }
      out.commit();
    });
  }

  YUNTI_INLINE static void one(Reducing<R>& r, const yt_groups& groups, uint32_t i, bool first_part, bool last_part,
      ReduceOut<R>& out) {
    const uint8_t* const key_bytes = groups.base + groups.koff[i];
    InKeyView<R> key{};
    if (!decode<typename R::InKey>(key_bytes, groups.klen[i], key))
      throw Error("the reducer's keys differ in length from the mapper's: declare the same key type in both");
    out.set_input(Padded{key_bytes, groups.klen[i]});
    if constexpr (has_reduce<R>) {
      if (YUNTI_LIKELY(first_part && last_part)) {
        Values<InValue> values(groups, groups.first[i], groups.first[i + 1]);
        r.user.reduce(key, values, out);
      } else {
        r.buffer.add(groups, groups.first[i], groups.first[i + 1]);
        if (!last_part) return;
        Values<InValue> values = r.buffer.template values<InValue>();
        r.user.reduce(key, values, out);
        r.buffer.clear();
      }
    } else {
      const Values<InValue> values(groups, groups.first[i], groups.first[i + 1]);
      if (first_part) r.user.begin(key);
      for (auto value = values.begin(); value != values.end(); ++value) {
        if constexpr (adds_with_key<R>) {
          r.user.add(has_value_keys(groups) ? value.key() : view(key_bytes, groups.klen[i]), *value);
        } else {
          r.user.add(*value);
        }
      }
      if (last_part) r.user.end(key, out);
    }
  }
};

template <class R>
constexpr yt_class reducing(const char* name, yt_kind kind) {
  yt_class c = typed_class_entry<Reducing<R>>(kind, name);
  c.flags = R::pure ? YT_PURE : 0;
  c.in_value_type = Type<typename R::InValue>::id;
  c.reduce = ReduceEntry<R>::reduce;
  c.flush = Flush<Reducing<R>>::entry();
  if constexpr (declares_fold<R>) {
    static_assert(R::Fold::known != YT_FOLD_USER,
        "Fold must name a known fold; register a folder of your own as the reducer");
    c.folder = &FoldEntry<typename R::Fold, typename R::Fold>::table;
  }
  return c;
}

template <class T>
constexpr yt_class reducing_or_folding(const char* name, yt_kind kind) {
  if constexpr (is_folder<T>) {
    using R = FoldReducer<T>;
    yt_class c = reducing<R>(name, kind);
    c.folder = &FoldEntry<T, Reducing<R>>::table;
    c.flags = has_flush<T> ? 0 : YT_PURE;  // the output of a folder for a key depends on the key's state alone
    return c;
  } else {
    return reducing<T>(name, kind);
  }
}

}  // namespace detail

// Returns the table entry of a reducer, made from a reducer or a folder; name: "Library.Class".
template <class T>
constexpr yt_class reducer(const char* name) {
  return detail::reducing_or_folding<T>(name, YT_REDUCER);
}

// Returns the table entry of a combiner, which must emit keys and values of its input types; name: "Library.Class".
template <class T>
constexpr yt_class combiner(const char* name) {
  static_assert(std::is_same_v<typename T::InValue, Any> || std::is_same_v<typename T::InValue, typename T::Value>,
                "a combiner must emit values of its input type");
  static_assert(std::is_same_v<typename T::InKey, typename T::Key>, "a combiner must emit keys of its input type");
  return detail::reducing_or_folding<T>(name, YT_COMBINER);
}

}  // namespace yunti
