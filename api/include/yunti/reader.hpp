// Readers: records in the bytes of files, where neither lines nor any other format of the engine is what stands in them.
//
//   struct Numbers : yunti::Reader<uint64_t, yunti::Bytes> {            // what it emits: key and value
//     size_t read(const yunti::Chunk& chunk, Out& out) {                // here: records of a length byte and as many bytes
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
// read() emits whole records that begin before owned(), and says how many bytes of the chunk it took, those between records too. Where it
// takes nothing it is called again with more; at the end of a file (chunk.last) that is the error of a file that ends within a record.
// Files that are not cut end with a call that has no bytes.
//
// Files are cut into splits where the class has
//   size_t find(const yunti::Chunk& chunk)      where the first record at or behind chunk.cut begins; yunti::kMore: not seen yet
//   static constexpr uint32_t look_back = 2;    how many bytes before the cut find() wants to see (fewer at the beginning of a file)
// and find() must come to what read() would have come to. What exactly each side promises stands at yt_reader in yunti.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper.hpp"

namespace yunti {

// A stretch of a file, valid until the call returns.
struct Chunk {
  std::string_view text;
  uint64_t limit;       // a record that begins here or behind belongs to the next split; UINT64_MAX: there is none
  uint64_t position;    // byte offset of the text in the (decompressed) file
  uint32_t file_index;  // counts the files of the job's input
  uint32_t cut;         // find: where the file was cut; else 0
  bool first, last;     // it begins the file, it ends the file
  // How much of the text records of this split may begin in.
  size_t owned() const { return limit < text.size() ? static_cast<size_t>(limit) : text.size(); }
};

// From find: no record begins in what there is; more is asked for.
inline constexpr size_t kMore = ~size_t{0};

// The base of a reader: the types of what it emits.
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
    return {view(raw.base, raw.bytes), raw.limit, raw.position, raw.file_index, raw.before, (raw.flags & YT_CHUNK_FIRST) != 0, (raw.flags & YT_CHUNK_LAST) != 0};
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

// The table entry of a reader; name: "Library.Class".
template <class R>
constexpr yt_class reader(const char* name) {
  yt_class c = detail::typed_class_entry<R>(YT_READER, name);
  c.reader = &detail::ReadEntry<R>::table;
  return c;
}

}  // namespace yunti
