// Named outputs: files next to the parts, by the names that the job declares (--named-output NAME=FORMAT, or [outputs]
// of job.toml).
//
//   struct Parse : yunti::Mapper<yunti::Bytes, int64_t> {
//     explicit Parse(yunti::Context& context) : rejected(context, "rejected") {}
//     void map(std::string_view line, Out& out) {
//       if (!good(line)) rejected.emit(line); else ..
//     }
//     yunti::NamedOutput<yunti::Bytes, yunti::None> rejected;
//   };
//
// Only mappers and reducers have named outputs. A record goes to OUT/NAME-m-00003 (fourth split) or OUT/NAME-r-00000
// (first partition). A task without records for a name makes no file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.hpp"
#include "out.hpp"

namespace yunti {

// Writer of records to a named output. One thread at a time uses it.
template <class Key, class Value>
class NamedOutput {
 public:
  // Opens the output. Throws Error if the job has no such output or it cannot be written; the engine reports the
  // reason.
  NamedOutput(Context& context, std::string_view name) {
    const yt_context* raw = context.raw();
    if (raw->abi_minor >= 4) raw_ = raw->output(raw->engine, detail::str(name), Type<Key>::id, Type<Value>::id);
    if (raw_ == nullptr) throw Error("the output " + std::string(name) + " cannot be written");
  }

  // Appends a record.
  void emit(const View<Key>& key, const View<Value>& value) {
    Out<Key, Value> out(raw_, detail::Padded{});
    out.emit(key, value);
    out.commit();
  }

  // Appends a record without a value, for the value type None.
  void emit(const View<Key>& key) { emit(key, None{}); }

 private:
  yt_out* raw_ = nullptr;
};

}  // namespace yunti
