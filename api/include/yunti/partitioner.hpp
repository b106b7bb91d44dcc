// Partitioners: functions from a record to a partition, 0 .. parts-1. Equal keys must get equal numbers.
//
//   struct ByLength : yunti::Partitioner<> {
//     uint32_t partition(std::string_view key, uint32_t parts) { return key.size() % parts; }
//   };
//
// partition(key, value, parts) sees the value too. For an output sorted over all partitions, the numbers must not fall
// as keys rise. A number of `parts` or more ends the job.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper.hpp"

namespace yunti {

// Base of a partitioner: the type of its keys.
template <class KeyType = Bytes>
struct Partitioner {
  using InKey = KeyType;
};

namespace detail {

YUNTI_DETECT(partitions_key, partition(std::declval<const View<typename T::InKey>&>(), std::declval<uint32_t>()));
YUNTI_DETECT(partitions_record, partition(std::declval<const View<typename T::InKey>&>(),
    std::declval<std::string_view>(), std::declval<uint32_t>()));

template <class P>
struct YUNTI_HIDDEN PartitionEntry {
  static_assert(partitions_key<P> || partitions_record<P>,
      "a partitioner needs uint32_t partition(key, uint32_t parts) or "
      "partition(key, std::string_view value, uint32_t parts)");

  static yt_status partition(void* self, const yt_batch* batch, uint32_t parts, uint32_t* part) noexcept {
    auto& instance = Instance<P>::of(self);
    return guard(instance.context, [&] {
      if (batch->koff == nullptr) throw Error("a partitioner needs records with keys");
      for (uint32_t i = 0; i < batch->n; ++i) {
        View<typename P::InKey> key{};
        if (!decode<typename P::InKey>(batch->base + batch->koff[i], batch->klen[i], key))
          throw Error("the partitioner's keys differ in length from the mapper's: declare the same key type in both");
        uint32_t p;
        if constexpr (partitions_record<P>) {
          p = instance.object.partition(key, batch->voff ? view(batch->base + batch->voff[i], batch->vlen[i])
              : std::string_view(), parts);
        } else {
          p = instance.object.partition(key, parts);
        }
        if (YUNTI_UNLIKELY(p >= parts))
          throw Error("the partitioner returned " + std::to_string(p) + " for " + std::to_string(parts) +
                      " partitions: return 0 to " + std::to_string(parts - 1));
        part[i] = p;
      }
    });
  }
};

}  // namespace detail

// Returns the table entry of a partitioner; name: "Library.Class".
template <class P>
constexpr yt_class partitioner(const char* name) {
  yt_class c = detail::class_entry<P>(YT_PARTITIONER, name);
  c.partition = detail::PartitionEntry<P>::partition;
  return c;
}

}  // namespace yunti
