// Values of one group, as a range: `for (int64_t v : values)`. Valid until the call returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <iterator>
#include <vector>

#include "error.hpp"

namespace yunti {

namespace detail {

// An engine before minor 4 has a shorter struct.
inline bool has_value_keys(const yt_groups& groups) { return groups.size >= sizeof(yt_groups) &&
    groups.vkoff != nullptr; }

}  // namespace detail

// Values of a group in the order (split, emission). They can be read once; a group may be larger than a batch.
template <class T>
class Values {
  static_assert(!std::is_same_v<T, None>, "values of type None cannot be read: declare yunti::Any");

 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = View<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    Iterator(const Values* values, uint32_t i) : values_(values), i_(i) {}
    YUNTI_INLINE value_type operator*() const { return (*values_)[i_]; }
    // The value's own key, if groups share only a part of the key (key_order.hpp); else empty: it is the group's key.
    std::string_view key() const { return values_->key(i_); }
    YUNTI_INLINE Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(values_, i_++); }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }

   private:
    const Values* values_;
    uint32_t i_;
  };

  // Values first .. last-1 of a batch of groups. Throws Error if T has eight bytes and the values have another length.
  Values(const yt_groups& groups, uint32_t first, uint32_t last)
      : base_(groups.base), voff_(groups.voff), vlen_(groups.vlen), v8_(groups.v8), first_(first), last_(last) {
    if (detail::has_value_keys(groups)) {
      vkoff_ = groups.vkoff;
      vklen_ = groups.vklen;
    }
    if (Type<T>::bytes == 8 && v8_ == nullptr && first != last)
      throw Error("the reducer expects values of eight bytes, but the mapper emits others: "
                  "declare the same value type in both");
  }

  Iterator begin() const { return {this, first_}; }
  Iterator end() const { return {this, last_}; }
  // Number of values, those of this batch if the group is longer.
  uint32_t size() const { return last_ - first_; }
  bool empty() const { return last_ == first_; }

 private:
  YUNTI_INLINE View<T> operator[](uint32_t i) const {
    if constexpr (Type<T>::bytes == 8) {
      return detail::load<T>(v8_ + i);
    } else if constexpr (is_number<T>) {
      View<T> v{};
      if (v8_ != nullptr || !detail::decode<T>(base_ + voff_[i], vlen_[i], v))
        throw Error("the reducer expects values of " + std::to_string(sizeof(T)) +
                    " bytes, but the mapper emits others: declare the same value type in both");
      return v;
    } else {
      if (v8_ != nullptr) return detail::view(reinterpret_cast<const uint8_t*>(v8_ + i), 8);
      return detail::view(base_ + voff_[i], vlen_[i]);
    }
  }

  std::string_view key(uint32_t i) const {
    return vkoff_ == nullptr ? std::string_view() : detail::view(base_ + vkoff_[i], vklen_[i]);
  }

  const uint8_t* base_;
  const uint32_t *voff_, *vlen_;
  const uint32_t *vkoff_ = nullptr, *vklen_ = nullptr;
  const uint64_t* v8_;
  uint32_t first_, last_;
};

namespace detail {

// Values of a group that spans several batches, for reducers that need them all at once.
class YUNTI_HIDDEN GroupBuffer {
 public:
  explicit GroupBuffer(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  void add(const yt_groups& groups, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) {
      if (has_value_keys(groups)) {
        vkoff_.push_back(static_cast<uint32_t>(bytes_.size()));
        vklen_.push_back(groups.vklen[i]);
        bytes_.insert(bytes_.end(), groups.base + groups.vkoff[i], groups.base + groups.vkoff[i] + groups.vklen[i]);
      }
      if (groups.v8 != nullptr) {
        v8_.push_back(groups.v8[i]);
      } else {
        const uint8_t* p = groups.base + groups.voff[i];
        voff_.push_back(static_cast<uint32_t>(bytes_.size()));
        vlen_.push_back(groups.vlen[i]);
        bytes_.insert(bytes_.end(), p, p + groups.vlen[i]);
      }
      if (YUNTI_UNLIKELY(held() > bytes_max_)) too_long();
    }
  }

  template <class T>
  Values<T> values() const {
    yt_groups groups{};
    groups.size = sizeof groups;
    groups.vkoff = vkoff_.empty() ? nullptr : vkoff_.data();
    groups.vklen = vklen_.data();
    groups.base = bytes_.data();
    groups.voff = voff_.data();
    groups.vlen = vlen_.data();
    groups.v8 = v8_.empty() ? nullptr : v8_.data();
    return Values<T>(groups, 0, static_cast<uint32_t>(v8_.size() + voff_.size()));
  }

  void clear() {
    if (held() > (1u << 20)) {  // releases the memory of a long group before the task ends
      *this = GroupBuffer(bytes_max_);
      return;
    }
    v8_.clear();
    voff_.clear();
    vlen_.clear();
    vkoff_.clear();
    vklen_.clear();
    bytes_.clear();
  }

 private:
  uint64_t held() const { return 8 * (v8_.size() + voff_.size() + vkoff_.size()) + bytes_.size(); }

  [[noreturn]] YUNTI_COLD void too_long() const {
    throw Error("one key has more than " + std::to_string(bytes_max_) +
                " bytes of values, and this reducer holds all of them: use begin, add and end instead of reduce, "
                "or raise yunti.reduce.buffer.bytes");
  }

  uint64_t bytes_max_;
  std::vector<uint64_t> v8_;
  std::vector<uint32_t> voff_, vlen_, vkoff_, vklen_;
  std::vector<uint8_t> bytes_;
};

}  // namespace detail
}  // namespace yunti
