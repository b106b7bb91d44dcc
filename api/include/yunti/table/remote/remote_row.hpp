// Rows of servers. They keep their bytes and columns alive, beyond their table too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "message.hpp"

namespace yunti {
namespace table {
namespace detail {

// Response of a server: the memory of its rows.
struct Response {
  std::shared_ptr<const RemoteSchema> schema;
  Payload payload;
};

}  // namespace detail
}  // namespace table

// A row of a table server, with the functions of a TableRow; none if it is false. Its texts, records and lists, and a
// TableRow made from it, are valid as long as the RemoteRow or a copy of it. It shares the memory of the response that
// it came in: at most 16 MiB, for at most 1,024 keys.
class RemoteRow : public TableRow {
 public:
  RemoteRow() = default;
  // Takes a row within the memory of an owner.
  RemoteRow(const TableRow& row, std::shared_ptr<const void> owner) : TableRow(row), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

// All rows of a key, in the order of the table: `for (const yunti::TableRow& row : rows)`. They are valid as long as
// the RemoteRows or a copy of it.
class RemoteRows {
 public:
  class Iterator {
   public:
    Iterator(const table::Fields* fields, const char* p, const char* end) : fields_(fields), p_(p), end_(end) { ++*this; }
    const TableRow& operator*() const { return row_; }
    const TableRow* operator->() const { return &row_; }
    Iterator& operator++() {
      if (p_ == end_) {
        row_ = TableRow();
        return *this;
      }
      // Lengths were checked when the response came.
      const uint32_t length = table::detail::length_at(p_, end_);
      row_ = TableRow(fields_, {p_, length});
      p_ += length;
      return *this;
    }
    // The only other iterator is the end.
    bool operator!=(const Iterator&) const { return static_cast<bool>(row_); }

   private:
    const table::Fields* fields_;
    const char *p_, *end_;
    TableRow row_;
  };

  RemoteRows() = default;
  // Takes the rows of a response: each behind its length, all within the owner's memory.
  RemoteRows(std::shared_ptr<const table::detail::Response> owner, std::string_view bytes, uint32_t count)
      : owner_(std::move(owner)), bytes_(bytes), count_(count) {}

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  Iterator begin() const {
    return {owner_ ? &owner_->schema->row : nullptr, bytes_.data(), bytes_.data() + bytes_.size()};
  }
  Iterator end() const { return {nullptr, nullptr, nullptr}; }

 private:
  std::shared_ptr<const table::detail::Response> owner_;
  std::string_view bytes_;
  uint32_t count_ = 0;
};

}  // namespace yunti
