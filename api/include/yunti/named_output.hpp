// Outputs beside the one that a task writes, by the names that the job gives them (--named-output NAME=FORMAT, or [outputs] of job.toml).
//
//   struct Parse : yunti::Mapper<yunti::Bytes, int64_t> {
//     explicit Parse(yunti::Context& context) : rejected(context, "rejected") {}
//     void map(std::string_view line, Out& out) {
//       if (!good(line)) rejected.emit(line); else ..
//     }
//     yunti::NamedOutput<yunti::Bytes, yunti::None> rejected;
//   };
//
// Of mappers and reducers. A record goes to OUT/NAME-m-00003 (of the fourth split) or OUT/NAME-r-00000 (of the first partition); a task
// without a record makes no file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.hpp"
#include "out.hpp"

namespace yunti {

// Records into an output beside the parts, by its name.
template <class Key, class Value>
class NamedOutput {
 public:
  // Throws where the job has no such output. Its own reason is the one that the user is told.
  NamedOutput(Context& context, std::string_view name) {
    const yt_context* raw = context.raw();
    if (raw->abi_minor >= 4) raw_ = raw->output(raw->engine, detail::str(name), Type<Key>::id, Type<Value>::id);
    if (raw_ == nullptr) throw Error("the output " + std::string(name) + " cannot be written");
  }

  void emit(const View<Key>& key, const View<Value>& value) {
    Out<Key, Value> out(raw_, detail::Padded{});
    out.emit(key, value);
    out.commit();
  }

  // Where the value type is None.
  void emit(const View<Key>& key) { emit(key, None{}); }

 private:
  yt_out* raw_ = nullptr;
};

}  // namespace yunti
