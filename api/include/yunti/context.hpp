// Context of a class: settings, side files, tables, names of inputs, counters and status of its task.
//
// A class that needs it has a constructor `explicit T(yunti::Context& context)`. The Context may be copied and kept; it
// is valid as long as the object itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <optional>

#include "error.hpp"

namespace yunti {

// A shared table: <yunti/table.hpp>.
class Table;
// A table of servers: <yunti/table/remote.hpp>.
class RemoteTable;

// Counter of this task; the engine sums it over all tasks. An increment is cheap enough for each record.
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

// Access to the job: settings, side files, tables, names of inputs and the task's number; counters, status and errors.
class Context {
 public:
  explicit Context(const yt_context* raw) : raw_(raw) {}

  // Returns a setting of the job: -D key=value, or [settings] of the job file; nullopt if it is not set. The text is
  // valid as long as the context.
  std::optional<std::string_view> config(std::string_view key) const {
    const yt_str value = raw_->config(raw_->engine, detail::str(key));
    if (value.p == nullptr) return std::nullopt;
    return detail::view(value);
  }

  // Returns a setting of the job, or `otherwise` if it is not set.
  std::string_view config(std::string_view key, std::string_view otherwise) const { return config(key)
      .value_or(otherwise); }

  // Returns the content of a side file, by its name without directories; nullopt if there is none. It is valid as long
  // as the context.
  std::optional<std::string_view> side_file(std::string_view name) const {
    if (raw_->abi_minor < 3) return std::nullopt;
    const yt_str content = raw_->side_file(raw_->engine, detail::str(name));
    if (content.p == nullptr) return std::nullopt;
    return detail::view(content);
  }

  // Returns a table of the job (--table NAME=FILE), by its name: mapped once a process, and valid to its end. Throws
  // Error if there is none. Defined in table/of_job.hpp, which yunti.hpp includes.
  const Table& table(std::string_view name) const;

  // Returns a table of servers of the job (--table NAME=server:ADDRESS,..), by its name: one in the process, for all
  // workers, and open to its end. Throws Error if there is none. Include <yunti/table/remote_of_job.hpp> to call it.
  const RemoteTable& remote_table(std::string_view name) const;

  // Returns the name of an input file, by the file_index of a Span, Chunk or batch; empty if it is unknown.
  std::string_view input(uint32_t file_index) const {
    if (raw_->abi_minor < 3) return {};
    return detail::view(raw_->input(raw_->engine, file_index));
  }

  // Returns a counter. Call it once, in the constructor, and keep the counter. Throws std::bad_alloc without memory.
  Counter counter(std::string_view group, std::string_view name) const {
    uint64_t* slot = raw_->counter(raw_->engine, detail::str(group), detail::str(name));
    if (slot == nullptr) throw std::bad_alloc();
    return Counter(slot);
  }

  // Sets the line that the progress display shows for this task.
  void status(std::string_view message) const { raw_->status(raw_->engine, detail::str(message)); }

  // Ends the job with this message, as yunti::fail.
  [[noreturn]] void fail(std::string_view message) const { yunti::fail(message); }

  // The task: true for a reduce task; its number (split or partition); the number of partitions.
  bool is_reduce() const { return raw_->is_reduce != 0; }
  uint32_t task() const { return raw_->task; }
  uint32_t partitions() const { return raw_->partitions; }
  const yt_context* raw() const { return raw_; }

 private:
  const yt_context* raw_;
};

namespace detail {

// Type of yt_context.edges. It needs no context, so words() and similar functions need none.
using FindEdges = decltype(yt_context::edges);

YUNTI_HIDDEN inline std::atomic<FindEdges> edges_of_engine{nullptr};

// Returns the engine's function once the engine has made an object of this library. Null for an older engine, and in
// programs without an engine.
YUNTI_INLINE FindEdges engine_edges() { return edges_of_engine.load(std::memory_order_relaxed); }

// Target of `self`: the user's object, and the context that reports its errors.
template <class T>
struct YUNTI_HIDDEN Instance {
  const yt_context* context;
  Context own_context;
  T object;

  static T make(Context& context) {
    if constexpr (std::is_constructible_v<T, Context&>) {
      return T(context);
    } else {
      static_assert(std::is_default_constructible_v<T>,
          "the class needs a constructor without arguments or from yunti::Context&");
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

// Common fields of the table entries of all kinds; T: the class inside the Instance.
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

// The same for a class that declares its Key and Value types.
template <class T>
constexpr yt_class typed_class_entry(yt_kind kind, const char* name) {
  yt_class c = class_entry<T>(kind, name);
  c.key_type = Type<typename T::Key>::id;
  c.value_type = Type<typename T::Value>::id;
  return c;
}

}  // namespace detail
}  // namespace yunti
