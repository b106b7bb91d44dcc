// Aggregates of queries: a value computed from the rows of a group, in a state of fixed size.
//
//   struct Range { double least, most; };
//   struct Span : yunti::Aggregate<Range, double(double)> {
//     static constexpr bool exact = true;                       // required: no order of rows changes the result
//     void init(Range& s) { s = {INFINITY, -INFINITY}; }
//     void add(Range& s, double v) { s = {std::min(s.least, v), std::max(s.most, v)}; }
//     void merge(Range& s, const Range& other) { add(s, other.least); add(s, other.most); }
//     double finish(const Range& s) { return s.most - s.least; }
//   };
//   YUNTI_LIBRARY("Stats", "1.0", yunti::aggregate<Span>("Stats.span"))
//
// States are plain bytes, moved and spilled by memcpy: trivially copyable, at most 64 KiB, without owning pointers.
// Rows are divided among threads, and partial states merged in any order: sums of doubles are not exact, sums of
// integers are. Rows with a null argument are ignored, unless the signature says std::optional<T>.
// Call order for a state: init, then add and merge any number of times, then finish once. A group without rows is
// finished as init left it; a result may be std::optional<T>.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../folder.hpp"
#include "column.hpp"

namespace yunti {

// Base of an aggregate: its state, and its signature as of a C++ function. column.hpp lists the types.
template <class StateType, class Signature>
struct Aggregate;

namespace detail {

YUNTI_DETECT(is_exact, exact);

template <class F, class State, class Signature>
struct AggregateEntry;

template <class F, class State, class R, class... A>
struct YUNTI_HIDDEN AggregateEntry<F, State, R(A...)> {
  static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State> &&
      std::is_default_constructible_v<State>,
                "an aggregate's state is moved and spilled as plain bytes: it must be trivially copyable");
  static_assert(sizeof(State) <= 65536, "an aggregate's state has at most 64 KiB");
  static_assert(sizeof...(A) > 0, "an aggregate has an argument");

  template <class Body>
  static yt_status each(void* self, uint32_t n, Body&& body) noexcept {
    auto& instance = Instance<F>::of(self);
    return guard(instance.context, [&] {
      for (uint32_t i = 0; i < n; ++i) body(instance.object, i);
    });
  }

  static yt_status init(void* self, void* const* states, uint32_t n) noexcept {
    return each(self, n, [&](F& aggregate, uint32_t i) {
      State state{};
      aggregate.init(state);
      store(states[i], state);
    });
  }

  static yt_status add(void* self, void* const* states, const yt_column* columns, uint32_t rows) noexcept {
    const Arguments<A...> arguments(columns);
    return each(self, rows, [&](F& aggregate, uint32_t row) {
      arguments.call(row, [&](const auto&... values) {
        with_state<State>(states[row], [&](State& state) { aggregate.add(state, values...); });
      });
    });
  }

  static yt_status merge(void* self, void* const* into, const void* const* from, uint32_t n) noexcept {
    return each(self, n, [&](F& aggregate, uint32_t i) {
      with_state<State>(into[i],
          [&](State& a) { with_state<State>(from[i], [&](const State& b) { aggregate.merge(a, b); }); });
    });
  }

  static yt_status finish(void* self, const void* const* states, uint32_t n, yt_result* result) noexcept {
    auto& instance = Instance<F>::of(self);
    return guard(instance.context, [&] {
      ResultWriter<R> out(result, n);
      for (uint32_t i = 0; i < n; ++i)
        with_state<State>(states[i], [&](const State& state) { out.put(i, instance.object.finish(state)); });
      out.finish();
    });
  }

  static constexpr yt_aggregate table = {
      sizeof(yt_aggregate), YT_EXACT | (ArgumentTypes<A...>::sees_nulls ? YT_SEES_NULLS : 0u),
      sizeof(State), sizeof...(A), Value<R>::id, 0, ArgumentTypes<A...>::ids, init, add, merge, finish};
};

template <class F>
constexpr bool exact_of() {
  if constexpr (is_exact<F>) {
    return F::exact;
  } else {
    return false;
  }
}

}  // namespace detail

template <class StateType, class R, class... A>
struct Aggregate<StateType, R(A...)> {
  static_assert(detail::check_types<R, A...>());
  using State = StateType;
  template <class F>
  using Entry = detail::AggregateEntry<F, StateType, R(A...)>;
};

// Returns the table entry of an aggregate; name: "Library.name".
template <class F>
constexpr yt_class aggregate(const char* name) {
  static_assert(detail::exact_of<F>(),
      "an aggregate's result must not depend on an order: make merge exact, and say static constexpr bool exact = true");
  yt_class c = detail::class_entry<F>(YT_AGGREGATE, name);
  c.aggregate = &F::template Entry<F>::table;
  return c;
}

}  // namespace yunti
