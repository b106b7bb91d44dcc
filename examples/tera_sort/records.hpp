// Mapper of TeraSort: emits each record unchanged, 10 bytes of key and 90 of value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace tera_sort {

struct Records : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  void map(std::string_view key, std::string_view value, Out& out) { out.emit(key, value); }
};

}  // namespace tera_sort
