// What a class knows about the job: settings, counters, its task.
//
// A class that wants it has a constructor `explicit T(yunti::Context& context)`. The Context may be copied and kept; it is
// valid as long as the object itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <optional>

#include "error.hpp"

namespace yunti {

// A counter of this task; the engine sums it over all tasks. Plain increments, free enough for each record.
class Counter {
 public:
  explicit Counter(uint64_t* slot) : slot_(slot) {}
  void operator++() { ++*slot_; }
  void operator++(int) { ++*slot_; }
  void operator+=(uint64_t n) { *slot_ += n; }
  uint64_t value() const { return *slot_; }

 private:
  uint64_t* slot_;
};

// What a class is told of its task, in its constructor: settings, side files, names of inputs; and what it tells: counters, status, errors.
class Context {
 public:
  explicit Context(const yt_context* raw) : raw_(raw) {}

  // A setting of the job: -D key=value, or the job file's [settings]. The text lives as long as the context.
  std::optional<std::string_view> config(std::string_view key) const {
    const yt_str value = raw_->config(raw_->engine, detail::str(key));
    if (value.p == nullptr) return std::nullopt;
    return detail::view(value);
  }

  std::string_view config(std::string_view key, std::string_view otherwise) const { return config(key).value_or(otherwise); }

  // The content of a side file of the job, by its name without directories. It lives as long as the context.
  std::optional<std::string_view> side_file(std::string_view name) const {
    if (raw_->abi_minor < 3) return std::nullopt;
    const yt_str content = raw_->side_file(raw_->engine, detail::str(name));
    if (content.p == nullptr) return std::nullopt;
    return detail::view(content);
  }

  // The name of a file of the input, by its index (Batch or Lines: file_index); empty where it is not known.
  std::string_view input(uint32_t file_index) const {
    if (raw_->abi_minor < 3) return {};
    return detail::view(raw_->input(raw_->engine, file_index));
  }

  // Look a counter up once, in the constructor, and keep it.
  Counter counter(std::string_view group, std::string_view name) const {
    uint64_t* slot = raw_->counter(raw_->engine, detail::str(group), detail::str(name));
    if (slot == nullptr) throw std::bad_alloc();
    return Counter(slot);
  }

  // One line about what the task does now, for the progress display.
  void status(std::string_view message) const { raw_->status(raw_->engine, detail::str(message)); }

  [[noreturn]] void fail(std::string_view message) const { yunti::fail(message); }

  bool is_reduce() const { return raw_->is_reduce != 0; }
  uint32_t task() const { return raw_->task; }  // the number of the split, or of the partition
  uint32_t partitions() const { return raw_->partitions; }
  const yt_context* raw() const { return raw_; }

 private:
  const yt_context* raw_;
};

namespace detail {

// yt_context.edges. It needs no context, so that words() and the like need none either.
using FindEdges = decltype(yt_context::edges);

YUNTI_HIDDEN inline std::atomic<FindEdges> edges_of_engine{nullptr};

// The engine's, once it has made an object of this library; null where it is older than that, and in programs without one.
YUNTI_INLINE FindEdges engine_edges() { return edges_of_engine.load(std::memory_order_relaxed); }

// What `self` points to: the user's object with the context that its errors go to.
template <class T>
struct YUNTI_HIDDEN Instance {
  const yt_context* context;
  Context own_context;
  T object;

  static T make(Context& context) {
    if constexpr (std::is_constructible_v<T, Context&>) {
      return T(context);
    } else {
      static_assert(std::is_default_constructible_v<T>, "the class needs a constructor without arguments or from yunti::Context&");
      return T();
    }
  }

  explicit Instance(const yt_context* raw) : context(raw), own_context(raw), object(make(own_context)) {}

  static Instance& of(void* self) { return *static_cast<Instance*>(self); }

  static yt_status create(const yt_context* raw, void** self) noexcept {
    if (raw->abi_minor >= 2) edges_of_engine.store(raw->edges, std::memory_order_relaxed);
    return guard(raw, [&] { *self = new Instance(raw); });
  }

  static void destroy(void* self) noexcept { delete static_cast<Instance*>(self); }
};

// What the table entries of all kinds have; T: what `self` points to, in an Instance.
template <class T>
constexpr yt_class class_entry(yt_kind kind, const char* name) {
  yt_class c{};
  c.size = sizeof c;
  c.kind = kind;
  c.name = name;
  c.create = Instance<T>::create;
  c.destroy = Instance<T>::destroy;
  return c;
}

// The same of a class that says what keys and values it gives, or takes where it gives none.
template <class T>
constexpr yt_class typed_class_entry(yt_kind kind, const char* name) {
  yt_class c = class_entry<T>(kind, name);
  c.key_type = Type<typename T::Key>::id;
  c.value_type = Type<typename T::Value>::id;
  return c;
}

}  // namespace detail
}  // namespace yunti
