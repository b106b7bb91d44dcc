// Mappers whose instances share a number, with and without a race, for the thread sanitizer.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <yunti/yunti.hpp>

namespace {

long unguarded = 0;
std::atomic<long> guarded{0};

struct Racing : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out& out) { out.emit(line, static_cast<int64_t>(++unguarded > 0)); }
};

struct Counting : yunti::Mapper<yunti::Bytes, int64_t> {
  void map(std::string_view line, Out& out) { out.emit(line, static_cast<int64_t>(++guarded > 0)); }
};

}  // namespace

YUNTI_LIBRARY("Racing", "1.0", yunti::mapper<Racing>("Racing.Racing"), yunti::mapper<Counting>("Racing.Counting"))
