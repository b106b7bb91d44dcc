// Key orders: the order in which keys reach reducers and the output, and the keys that form one group.
//
//   // Keys are `year TAB station`: by year, within it the largest number in the value first. One group per year.
//   struct HottestFirst : yunti::KeyOrder<> {
//     static constexpr bool groups = true;
//     void arrange(std::string_view key, std::string_view value, yunti::OrderedKey& form) {
//       form.text(key.substr(0, key.find('\t'))).group();
//       form.decimal(value, yunti::descending);
//     }
//   };
//
// arrange(key, form) is enough if the value does not matter. A class defines an order by a form of each key, made of
// parts. Forms compare part by part; the engine sorts them as bytes, as fast as any key. Keys with equal forms are one
// group and stay in the order of emission. With groups = true, the parts before group() alone define the group. A
// reducer then reads the key of each value from Values::Iterator::key(), or takes it by add(key, value).
//
// Composite keys: an OrderedKey is also a key that needs no class. A mapper emits key.bytes(), the engine sorts by it,
// and the reducer reads the same parts with an OrderedKeyReader.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string>

#include "mapper.hpp"

namespace yunti {

// Direction of a part of an ordered key.
enum Direction : bool { ascending = false, descending = true };

namespace detail {

// Returns the bits of a number as an unsigned number with the same order.
template <class T>
auto ordered_bits(T number) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  const Bits bits = load<Bits>(&number);
  if constexpr (std::is_floating_point_v<T>) return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits ^ sign);
  else return static_cast<Bits>(std::is_signed_v<T> ? bits ^ sign : bits);
}

template <class T, class Bits>
T from_ordered_bits(Bits bits) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  if constexpr (std::is_floating_point_v<T>) bits = (bits & sign) != 0 ? bits ^ sign : ~bits;
  else if constexpr (std::is_signed_v<T>) bits ^= sign;
  return load<T>(&bits);
}

}  // namespace detail

// Parts of a key, encoded one after the other as bytes with the order of the parts (byte by byte, unsigned). No key is
// a prefix of another key with the same kinds of parts:
//
//   text       its bytes, 00 as 00 ff, then 00 00
//   number     big-endian, the sign bit inverted; floating point by IEEE 754 totalOrder
//   decimal    00 negative, 01 zero, 02 positive, then (inverted if negative): number of digits before the point as u32
//              big-endian, digits, 00
//
// All bits of a descending part are inverted.
class OrderedKey {
 public:
  // Appends text, ordered byte by byte.
  OrderedKey& text(std::string_view part, Direction direction = ascending) {
    const size_t start = bytes_.size();
    for (size_t nul; (nul = part.find('\0')) != part.npos; part.remove_prefix(nul + 1)) {
      bytes_.append(part.substr(0, nul));
      bytes_.append("\0\xff", 2);
    }
    bytes_.append(part);
    bytes_.append("\0\0", 2);
    return turn(start, direction);
  }

  // Appends a number: (u)int32_t, (u)int64_t, float or double.
  template <class T>
  OrderedKey& number(T part, Direction direction = ascending) {
    static_assert(is_number<T>, "a number is an (u)int32_t, (u)int64_t, float or double");
    const auto bits = detail::ordered_bits(part);
    const size_t start = bytes_.size();
    for (int shift = 8 * (sizeof bits - 1); shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<char>(bits >> shift & 0xff));
    return turn(start, direction);
  }

  // Appends the decimal number at the start of a text, after blanks, of any length; 0 if there is none (as sort -n).
  OrderedKey& decimal(std::string_view part, Direction direction = ascending) {
    const size_t start = bytes_.size();
    const auto digits = [&part] {
      const std::string_view found = part.substr(0, std::min(part.find_first_not_of("0123456789"), part.size()));
      part.remove_prefix(found.size());
      return found;
    };
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    const bool negative = !part.empty() && part.front() == '-';
    if (negative) part.remove_prefix(1);
    std::string_view whole = digits(), fraction;
    if (!part.empty() && part.front() == '.') {
      part.remove_prefix(1);
      fraction = digits();
    }
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    if (whole.empty() && fraction.empty()) {
      bytes_.push_back(1);
    } else {
      bytes_.push_back(negative ? 0 : 2);
      const size_t from = bytes_.size();
      number(static_cast<uint32_t>(whole.size()));
      bytes_.append(whole);
      bytes_.append(fraction);
      bytes_.push_back(0);
      turn(from, Direction{negative});
    }
    return turn(start, direction);
  }

  // Appends bytes that are ordered already: the last part, or one that terminates itself.
  OrderedKey& raw(std::string_view part) {
    bytes_.append(part);
    return *this;
  }

  // Ends the parts that define the group; later parts only order.
  OrderedKey& group() {
    group_ = static_cast<uint32_t>(bytes_.size());
    return *this;
  }

  // Removes all parts.
  void clear() {
    bytes_.clear();
    group_ = UINT32_MAX;
  }

  // Encoded parts; valid until the next change.
  std::string_view bytes() const { return bytes_; }
  uint32_t group_bytes() const { return group_; }  // number of bytes before group(); UINT32_MAX: all

 private:
  OrderedKey& turn(size_t from, Direction direction) {
    if (direction == descending)
      for (size_t i = from; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(~bytes_[i]);
    return *this;
  }

  std::string bytes_;
  uint32_t group_ = UINT32_MAX;
};

// Reads the parts of an OrderedKey in their order. Each call must name the kind and the direction that wrote the part.
// Throws Error if the key lacks that part.
class OrderedKeyReader {
 public:
  explicit OrderedKeyReader(std::string_view key) : key_(key) {}

  // Returns the next part, a text.
  std::string text(Direction direction = ascending) {
    const char turned = direction == descending ? '\xff' : '\0';
    std::string part;
    for (;;) {
      const size_t nul = key_.find(turned, at_);
      if (nul == key_.npos || nul + 1 >= key_.size()) missing_part();
      for (size_t i = at_; i < nul; ++i) part.push_back(static_cast<char>(key_[i] ^ turned));
      at_ = nul + 2;
      if (key_[nul + 1] == turned) return part;
      part.push_back('\0');
    }
  }

  // Returns the next part, a number of type T.
  template <class T>
  T number(Direction direction = ascending) {
    decltype(detail::ordered_bits(T{})) bits = 0;
    if (key_.size() - at_ < sizeof bits) missing_part();
    for (size_t i = 0; i < sizeof bits; ++i)
      bits = static_cast<decltype(bits)>(bits << 8 | static_cast<uint8_t>(key_[at_ + i]));
    at_ += sizeof bits;
    return detail::from_ordered_bits<T>(direction == descending ? static_cast<decltype(bits)>(~bits) : bits);
  }

  // Number of bytes read so far; in a form, the bytes before group().
  size_t position() const { return at_; }

 private:
  [[noreturn]] static void missing_part() {
    throw Error("a composite key lacks a part that is read from it: read the parts that were written, in the same "
                "order");
  }

  std::string_view key_;
  size_t at_ = 0;
};

// Base of a key order. groups: true if it calls group().
template <class KeyType = Bytes>
struct KeyOrder {
  using InKey = KeyType;
  static constexpr bool groups = false;
};

namespace detail {

YUNTI_DETECT(arranges_key, arrange(std::declval<const View<typename T::InKey>&>(), std::declval<OrderedKey&>()));
YUNTI_DETECT(arranges_record, arrange(std::declval<const View<typename T::InKey>&>(), std::declval<std::string_view>(),
    std::declval<OrderedKey&>()));

template <class O>
struct YUNTI_HIDDEN KeyOrderEntry {
  static_assert(arranges_key<O> || arranges_record<O>,
                "a key order needs void arrange(key, yunti::OrderedKey& form) or "
                "arrange(key, std::string_view value, yunti::OrderedKey& form)");

  static yt_status arrange(void* self, const yt_batch* batch, yt_out* raw, uint32_t* group) noexcept {
    auto& instance = Instance<O>::of(self);
    return guard(instance.context, [&] {
      Out<Bytes, None> out(raw, Padded{});
      OrderedKey form;
      for (uint32_t i = 0; i < batch->n; ++i) {
        View<typename O::InKey> key{};
        if (!decode<typename O::InKey>(batch->base + batch->koff[i], batch->klen[i], key))
          throw Error("the key order's keys differ in length from the mapper's: declare the same key type in both");
        form.clear();
        if constexpr (arranges_record<O>) {
          instance.object.arrange(key, view(batch->base + batch->voff[i], batch->vlen[i]), form);
        } else {
          instance.object.arrange(key, form);
        }
        if (form.group_bytes() != UINT32_MAX) {
          if (!O::groups)
            throw Error("a key order that calls group() must declare static constexpr bool groups = true");
          group[i] = form.group_bytes();
        }
        out.emit(form.bytes());
      }
      out.commit();
    });
  }
};

}  // namespace detail

// Returns the table entry of a key order; name: "Library.Class".
template <class O>
constexpr yt_class key_order(const char* name) {
  yt_class c = detail::class_entry<O>(YT_KEY_ORDER, name);
  c.flags = O::groups ? YT_GROUPS : 0;
  c.key_type = Type<typename O::InKey>::id;
  c.arrange = detail::KeyOrderEntry<O>::arrange;
  return c;
}

}  // namespace yunti
