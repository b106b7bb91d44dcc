// Slots of a table, and walks over the rows in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "index.hpp"
#include "key.hpp"

namespace yunti {
namespace table {

// The parts of an open table: slots by hash, bytes by slot.
struct Store {
  File file;
  Header header;
  Schema schema;
  KeyColumns keys;
  Index index;

  Store(const std::string& path, const TableOptions& options)
      : file(path, options),
        header(start(file, options)),
        schema(file, header),
        keys(schema.row, schema.keys),
        index(file, header, schema) {}

  // Returns the slot of a hash. The table has one.
  YUNTI_INLINE uint64_t slot_of(uint64_t hash) const {
    const uint64_t bucket = index.bucket_of(hash);
    return index.slot_of(hash, bucket, static_cast<uint8_t>(*file.use_in_lookup(header.pilots.begin + bucket, 1)));
  }

  // Returns the bytes of a slot: a row, or rows behind their lengths; empty for one without a row, unless all rows
  // have the same length.
  YUNTI_INLINE std::string_view bytes_of(uint64_t slot) const {
    if (!header.is_grouped()) {
      const uint64_t n = header.row_bytes;
      return {file.use_in_lookup(header.row_data.begin + slot * n, n), n};
    }
    file.use_in_lookup(file.offset(index.group_of(slot)), header.group_bytes());
    const std::string_view bytes = index.bytes_at(index.place_of(slot));
    return {file.use_in_lookup(file.offset(bytes.data()), bytes.size()), bytes.size()};
  }

  // Takes the first row of a slot's bytes.
  YUNTI_INLINE std::string_view take(std::string_view& left) const {
    std::string_view row = left;
    if (header.is_multi && !left.empty()) {
      const char* p = left.data();
      const uint32_t length = detail::length_at(p, p + left.size());
      left.remove_prefix(static_cast<size_t>(p - left.data()));
      if (length > left.size()) damaged("a row is cut");
      row = left.substr(0, length);
    }
    left.remove_prefix(row.size());
    return row;
  }

  // Returns the bytes of a slot, for walks; empty for one without a row.
  std::string_view used_bytes_of(uint64_t slot) const {
    if (!header.is_grouped()) {
      const char bits = *file.use(header.used.begin + slot / 8, 1);
      if ((bits >> slot % 8 & 1) == 0) return {};
    }
    return bytes_of(slot);
  }

  // Returns the slot of a position in the order of keys.
  uint64_t slot_at(uint64_t position) const {
    const uint64_t width = header.order_bytes();
    const char* p = file.use(header.order.begin + position * width, width);
    const uint64_t slot = width == 4 ? yunti::detail::load<uint32_t>(p) : yunti::detail::load<uint64_t>(p);
    if (slot >= header.all_slots()) damaged("a slot is outside of its parts");
    return slot;
  }

  // Returns a row of the key at a position in the order of keys.
  std::string_view row_at(uint64_t position) const {
    std::string_view bytes = used_bytes_of(slot_at(position));
    const std::string_view row = take(bytes);
    if (row.empty()) damaged("a slot in the order of keys has no row");
    return row;
  }

 private:
  static const File& start(File& file, const TableOptions& options) {
    const Header header(file);
    const uint64_t groups = header.groups.begin;
    if (!options.trust)
      file.check_blocks(header.sums.begin, {header.pilots, {groups, header.row_data.end() - groups}});
    return file;
  }
};

// Rows to walk over: `for (yunti::TableRow row : rows)`. They are valid as long as their table.
class Rows {
 public:
  class Iterator {
   public:
    Iterator(const Store* store, uint64_t at, uint64_t end, bool is_ordered, std::string_view left)
        : store_(store), at_(at), end_(end), is_ordered_(is_ordered), left_(left) {
      ++*this;
    }
    const Row& operator*() const { return row_; }
    const Row* operator->() const { return &row_; }
    Iterator& operator++() {
      while (left_.empty()) {
        if (at_ == end_) {
          row_ = Row();
          return *this;
        }
        left_ = store_->used_bytes_of(is_ordered_ ? store_->slot_at(at_) : at_);
        ++at_;
      }
      row_ = Row(&store_->schema.row, store_->take(left_));
      return *this;
    }
    // The only other iterator is the end.
    bool operator!=(const Iterator&) const { return static_cast<bool>(row_); }

   private:
    friend class Rows;
    Iterator() = default;
    const Store* store_ = nullptr;
    uint64_t at_ = 0, end_ = 0;
    bool is_ordered_ = false;
    std::string_view left_;
    Row row_;
  };

  // Rows of slots, or of positions in the order of keys, from `begin` to before `end`; first those in `left`.
  Rows(const Store* store, uint64_t begin, uint64_t end, bool is_ordered, std::string_view left = {})
      : store_(store), begin_(begin), end_(end), is_ordered_(is_ordered), left_(left) {}

  Iterator begin() const { return {store_, begin_, end_, is_ordered_, left_}; }
  Iterator end() const { return {}; }
  bool empty() const { return !(begin() != end()); }
  // Counts the rows, which reads them.
  uint64_t count() const {
    uint64_t n = 0;
    for (Iterator i = begin(); i != end(); ++i) ++n;
    return n;
  }

 private:
  const Store* store_;
  uint64_t begin_, end_;
  bool is_ordered_;
  std::string_view left_;
};

}  // namespace table
}  // namespace yunti
