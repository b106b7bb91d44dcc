// The mapper of TeraSort: records as they are, the 10 bytes of the key and the 90 of the value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <yunti/yunti.hpp>

namespace tera_sort {

struct Records : yunti::Mapper<yunti::Bytes, yunti::Bytes> {
  void map(std::string_view key, std::string_view value, Out& out) { out.emit(key, value); }
};

}  // namespace tera_sort
