// Readers: user code that finds records in the bytes of files, for formats that the engine does not know.
//
//   struct Numbers : yunti::Reader<uint64_t, yunti::Bytes> {            // output types: key and value
//     size_t read(const yunti::Chunk& chunk, Out& out) {                // records: a length byte and that many bytes
//       size_t at = 0;
//       while (at < chunk.owned() && at < chunk.text.size()) {
//         const size_t n = 1 + static_cast<uint8_t>(chunk.text[at]);
//         if (n > chunk.text.size() - at) break;                        // the rest comes with the next chunk
//         out.emit(chunk.position + at, chunk.text.substr(at + 1, n - 1));
//         at += n;
//       }
//       return at;                                                      // bytes taken
//     }
//   };
//
// read() emits whole records that begin before owned(). It returns the number of bytes of the chunk that it took, bytes
// between records included. If it takes nothing, the next call has more bytes. At the end of a file (chunk.last),
// taking nothing is the error of a file that ends within a record. Files that are not cut end with a call that has no
// bytes.
//
// The engine cuts files into splits if the class has
//   size_t find(const yunti::Chunk& chunk)      returns the position of the first record at or after chunk.cut;
//                                               yunti::kMore: it needs more bytes
//   static constexpr uint32_t look_back = 2;    bytes before the cut that find() sees (fewer at the start of a file)
// find() must return the position that read() would reach. yt_reader in yunti.h defines the contract of both sides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper.hpp"

namespace yunti {

// Range of bytes of a file, valid until the call returns.
struct Chunk {
  std::string_view text;
  uint64_t limit;       // records that begin here or later belong to the next split; UINT64_MAX: no limit
  uint64_t position;    // byte offset of the text in the (decompressed) file
  uint32_t file_index;  // index of the file in the job's input, from 0
  uint32_t cut;         // find: offset of the cut in the text; else 0
  bool first, last;     // true if the text begins the file, ends the file
  // Number of bytes in which records of this split may begin.
  size_t owned() const { return limit < text.size() ? static_cast<size_t>(limit) : text.size(); }
};

// Result of find() without a position: no record begins in the chunk, and the next call has more bytes.
inline constexpr size_t kMore = ~size_t{0};

// Base of a reader: the types of its output.
template <class KeyType, class ValueType>
struct Reader {
  using Key = KeyType;
  using Value = ValueType;
  using Out = yunti::Out<KeyType, ValueType>;
  static constexpr uint32_t look_back = 0;
};

namespace detail {

YUNTI_DETECT(has_read, read(std::declval<const Chunk&>(), std::declval<FlushOut<T>&>()));
YUNTI_DETECT(has_find, find(std::declval<const Chunk&>()));

template <class R>
struct YUNTI_HIDDEN ReadEntry {
  static_assert(has_read<R>, "a reader needs size_t read(const yunti::Chunk&, Out&)");

  static Chunk chunk(const yt_chunk& raw) {
    return {view(raw.base, raw.bytes), raw.limit, raw.position, raw.file_index, raw.before,
        (raw.flags & YT_CHUNK_FIRST) != 0, (raw.flags & YT_CHUNK_LAST) != 0};
  }

  static yt_status find(void* self, const yt_chunk* raw, uint64_t* start) noexcept {
    auto& instance = Instance<R>::of(self);
    return guard(instance.context, [&] {
      if constexpr (has_find<R>) *start = instance.object.find(chunk(*raw));
    });
  }

  static yt_status read(void* self, const yt_chunk* raw, yt_out* raw_out, uint64_t* taken) noexcept {
    auto& instance = Instance<R>::of(self);
    return guard(instance.context, [&] {
      FlushOut<R> out(raw_out, Padded{raw->base, raw->bytes});
      *taken = instance.object.read(chunk(*raw), out);
      out.commit();
    });
  }

  static constexpr yt_reader table = {sizeof(yt_reader), 0, R::look_back, 0, has_find<R> ? find : nullptr, read};
};

}  // namespace detail

// Returns the table entry of a reader; name: "Library.Class".
template <class R>
constexpr yt_class reader(const char* name) {
  yt_class c = detail::typed_class_entry<R>(YT_READER, name);
  c.reader = &detail::ReadEntry<R>::table;
  return c;
}

}  // namespace yunti
