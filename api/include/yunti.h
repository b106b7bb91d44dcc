/* The C ABI between Yunti's engine and class libraries, version 0: everything that crosses is declared here.
 *
 * A class library is a shared object that exports one symbol, yunti_library_v0(), which returns a table of classes
 * (mappers, combiners, reducers, folders, partitioners, readers, writers, key orders). The engine hands over batches and gets
 * batches back: one call for a batch of 32-256 KB, never one for a record. C++ users include <yunti/yunti.hpp>, which is built on
 * this file.
 *
 * Rules that hold everywhere
 *   - Every struct starts with its own size, so that either side may be older than the other. Fields are only appended.
 *   - Input buffers have YT_SLACK readable bytes behind their last record; output blocks YT_SLACK writable ones behind
 *     `end`. What stands there is unspecified. Nothing is aligned unless said: load with memcpy.
 *   - Byte strings are never NUL-terminated and may hold any byte. Key + value of a record: at most 2^31-1 bytes.
 *   - A call of full() or big() that failed is remembered: the task fails even if the operator returns YT_OK.
 *   - Numbers (YT_I32 ..) are little-endian in memory, two's complement or IEEE 754.
 *   - Nothing throws, longjmps or exits across this boundary. A failing function says why with yt_context.error and
 *     returns YT_FAIL; the job ends with that message.
 *   - An instance is used by one thread at a time. It is made for one task (a split, or a partition) and destroyed after it.
 *   - Libraries are loaded once and never closed.
 *
 * Version 0 changes until streaming, isolation and Hadoop have used it; then it is frozen and only grows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef YUNTI_H
#define YUNTI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the ABI: a library of another major version is refused; a minor one is only appended to. */
#define YT_ABI_MAJOR 0u
#define YT_ABI_MINOR 4u
/* Bytes behind a buffer that may be read, or written. */
#define YT_SLACK 64u

/* Bytes: a place and how many. */
typedef struct yt_str {
  const uint8_t *p;
  uint64_t n;
} yt_str;

/* What a function of either side returns. */
typedef int32_t yt_status;
enum {
  YT_OK = 0,
  YT_FAIL = 1,  /* the job fails with the message given to yt_context.error */
  YT_STOP = 3,  /* from full() and big(): the job is being cancelled; return it */
  YT_NOMEM = 4  /* an allocation failed */
};

/* What a class is. */
typedef uint32_t yt_kind;
enum {
  YT_MAPPER = 1, YT_REDUCER = 2, YT_COMBINER = 3, YT_FOLDER = 4, YT_PARTITIONER = 5, YT_READER = 6, YT_WRITER = 7, YT_KEY_ORDER = 8
};

/* What a key or a value is. It fixes the order of keys and how a text writer prints it. */
typedef uint32_t yt_type;
enum {
  YT_NONE = 0,  /* no value at all (the length is 0); text output then has no tab */
  YT_BYTES = 1, /* ordered byte by byte, unsigned, a prefix before what it begins */
  YT_I32 = 2,
  YT_I64 = 3,
  YT_U32 = 4,
  YT_U64 = 5,
  YT_F32 = 6,   /* ordered as IEEE 754 totalOrder: -NaN < -inf < .. -0 < +0 .. < inf < NaN */
  YT_F64 = 7
};

/* ---- input: a batch of records in one buffer, valid until the call returns ---------------------------------------- */

/* Record i: key = base + koff[i], klen[i] bytes; value = base + voff[i], vlen[i] bytes.
 * Text input has no stored keys: koff is NULL, and the key of line i is its byte offset in the file,
 * first_position + voff[i]. Lines come without their line end. */
typedef struct yt_batch {
  uint32_t size;
  uint32_t n;                  /* records; 0 for a span */
  const uint8_t *base;
  const uint32_t *koff, *klen; /* NULL: no stored keys */
  const uint32_t *voff, *vlen; /* NULL: a span */
  uint64_t bytes;              /* the batch is [base, base + bytes) */
  uint64_t first_position;     /* byte offset of base in the (decompressed) file */
  uint32_t flags;              /* YT_BATCH_.. */
  uint32_t file_index;         /* counts the files of the job's input, in order */
} yt_batch;

/* The batch is [base, base+bytes) and nothing is marked in it: whole records with their ends (the last line of a file may lack
 * its end). Given only to a mapper with YT_WANTS_SPAN. */
#define YT_BATCH_SPAN 1u

/* ---- output: an append cursor into a block, bumped inline by the user's code -------------------------------------- */

/* How records are laid out in the block. The engine chooses among those that the class can do (see yt_class.flags).
 *   YT_FORM_COPY: u32 klen, u32 vlen, key, value, zero to seven bytes of padding: every record starts 8-aligned.
 *   YT_FORM_ONE:  u32 koff, u32 klen: the key is a slice of the input batch (from ref_base), the value the u64 1.
 *   YT_FORM_REF:  u32 koff, u32 klen, u64 value: the same with a value of eight bytes.
 *   YT_FORM_BYTES: no records but the bytes of the output themselves. Given only to writers. Since minor 4. */
typedef uint32_t yt_form;
enum { YT_FORM_COPY = 1, YT_FORM_ONE = 2, YT_FORM_REF = 3, YT_FORM_BYTES = 4 };

/* Where a class puts records: a block with a cursor that the class moves itself. */
typedef struct yt_out yt_out;
struct yt_out {
  uint32_t size;
  yt_form form;
  uint8_t *cur, *end;      /* free room: [cur, end), then YT_SLACK bytes that may be overwritten */
  const uint8_t *ref_base; /* forms ONE and REF: what koff counts from */
  /* Hands the filled block over; on YT_OK, end - cur >= need. Anything else: return it. need <= 64 KiB. */
  yt_status (*full)(yt_out *, uint64_t need);
  /* Form COPY, a record that needs more than 64 KiB of block and does not fit in [cur, end): the engine copies it.
   * Form BYTES, as many bytes: those of key, then those of value. */
  yt_status (*big)(yt_out *, yt_str key, yt_str value);
  void *engine;
  uint64_t reserved[4];
};
/* Records of more go by big(), whole. */
#define YT_BIG_BYTES 65536u

/* ---- groups: what reducers and combiners get ---------------------------------------------------------------------- */

/* A batch of groups in key order. Group i has the key base + koff[i] and the values first[i] .. first[i+1]-1.
 * A long group goes over several batches: then the last group of one batch is flagged MORE, and the first of the next,
 * with the same key again, CONT. Values of a group come in the order (split, order of emission in the split). */
typedef struct yt_groups {
  uint32_t size;
  uint32_t n;
  const uint8_t *base;
  const uint32_t *koff, *klen;
  const uint32_t *first;       /* n + 1 */
  const uint32_t *voff, *vlen; /* NULL where v8 is set */
  const uint64_t *v8;          /* values whose type has 8 bytes, packed; else NULL */
  uint32_t flags;              /* YT_GROUP_.. */
  uint32_t pad;
  /* The key of each value, base + vkoff[v], where groups have a part of the key in common (YT_GROUPS); a group's own key is
   * that of its first value then. NULL: all keys of a group are the same. Since minor 4. */
  const uint32_t *vkoff, *vklen;
} yt_groups;
/* Of the last group of a batch, that it goes on in the next one; of the first, that it began in the one before. */
#define YT_GROUP_MORE 1u
#define YT_GROUP_CONT 2u

/* ---- folders: the engine owns a hash table of states -------------------------------------------------------------- */

/* Folds that the engine knows and does itself, faster than by calls. */
typedef uint32_t yt_fold_known;
enum {
  YT_FOLD_USER = 0,    /* the functions below */
  YT_FOLD_COUNT = 1,   /* known folds: state and value are 8 bytes, and the engine never calls init, fold or merge */
  YT_FOLD_SUM_I64 = 2, /* wraps around */
  YT_FOLD_MIN_I64 = 3,
  YT_FOLD_MAX_I64 = 4,
  YT_FOLD_SUM_F64 = 5  /* inexact */
};

/* States are plain bytes: the engine moves, spills and loads them by memcpy and never destroys them.
 * In each call n is at most 64. A state may occur several times in `states`: fold in the order given. */
typedef struct yt_folder {
  uint32_t size;
  uint32_t state_size;  /* 1 to 65536 bytes */
  yt_fold_known known;
  uint32_t exact;       /* 1: merge is exact (associative and commutative), so that partial states may be made, merged and
                           evicted in any order. 0: they are made for one split each and merged in split order */
  yt_status (*init)(void *self, void *const *states, uint32_t n);
  /* v8 where the value type has 8 bytes (then values is NULL), else values. */
  yt_status (*fold)(void *self, void *const *states, const yt_str *values, const uint64_t *v8, uint32_t n);
  yt_status (*merge)(void *self, void *const *into, const void *const *from, uint32_t n);
  /* NULL for a known fold: the record is (key, state as the value type). */
  yt_status (*finish)(void *self, const yt_str *keys, const void *const *states, uint32_t n, yt_out *out);
} yt_folder;

/* ---- readers: records in the bytes of files, since minor 4 --------------------------------------------------------- */

/* A stretch of a file, decompressed, valid until the call returns. */
typedef struct yt_chunk {
  uint32_t size;
  uint32_t flags;      /* YT_CHUNK_.. */
  const uint8_t *base;
  uint64_t bytes;      /* the stretch is [base, base + bytes) */
  uint64_t limit;      /* a record that begins at base + limit or behind it belongs to the next split; UINT64_MAX: all are of this one */
  uint64_t position;   /* byte offset of base in the file */
  uint32_t file_index; /* counts the files of the job's input, in order */
  uint32_t before;     /* find: the cut is at base + before; else 0 */
} yt_chunk;
#define YT_CHUNK_FIRST 1u /* base is the beginning of the file */
#define YT_CHUNK_LAST 2u  /* the file ends at base + bytes */

/* The engine owns files, splits, codecs and buffers; a reader finds records in bytes.
 *
 *      file    | split 0             | split 1             | split 2           |
 *      records |  a  |   b   |    c     |  d  |      e      |   f   |    g     |     a b c | d e | f g
 *                                  cut ^              cut ^
 *
 * A record belongs to the split in which its first byte lies. So that each is read exactly once whatever the split size, where records
 * begin must not depend on where the file was cut: find has to answer what read would have come to.
 *
 * Call order for a split: for each of its pieces of files, find if the piece begins behind the beginning of its file; then read, again and
 * again, each time from the first byte that was not taken. A piece is done when all bytes before its limit were taken; one without a limit
 * goes to the end of its file, and its last call has YT_CHUNK_LAST and no bytes: there a reader that has kept something may emit it. A split
 * may be done after find. Where keys are sampled, instances of their own read some of the input, and may be destroyed at any time.
 *
 * A failure of either ends the job with its message, the file and the byte. */
typedef struct yt_reader {
  uint32_t size;
  uint32_t flags;      /* 0 */
  uint32_t look_back;  /* bytes before a cut that find wants to see, at most 4096; fewer are there at the beginning of a file */
  uint32_t pad;
  /* Where the first record that begins at base + before or behind it begins, counted from base: in before .. bytes; a number of limit
   * or more says that none begins in this split. UINT64_MAX: more bytes are needed; with YT_CHUNK_LAST: none begins in the rest of the file.
   * NULL: files cannot be cut, each of them is read from its beginning to its end. Compressed files always are. */
  yt_status (*find)(void *self, const yt_chunk *, uint64_t *start);
  /* Emits (form COPY) whole records that begin before base + limit, in order, and says how many bytes it took: those of the records,
   * and those between them. A record that begins before the limit is read to its end, wherever that is.
   * 0 taken and nothing emitted: more bytes are needed, and the next call has them, in a buffer that grows if one record fills it.
   * With YT_CHUNK_LAST there are none: then 0 taken of bytes that are there is the error of a file that ends within a record.
   * Records with 0 bytes taken, or more bytes taken than there are, end the job. */
  yt_status (*read)(void *self, const yt_chunk *, yt_out *out, uint64_t *taken);
} yt_reader;

/* ---- writers: the bytes of an output, since minor 4 ------------------------------------------------------------------ */

/* yt_writer.flags */
#define YT_WHOLE_PART 1u /* one instance writes a part from begin to end, in order; else any number of them write stretches of it side by side */

/* Form BYTES. The engine owns files, names, codecs and buffers; what a writer appends stands in the file, or is compressed behind it.
 *
 * Without YT_WHOLE_PART what is written of a record must depend on that record alone: a part's begin, its records in stretches of any
 * length, and its end come from instances that do not know of each other. With it an instance is called begin, write for each batch of the
 * part in order, end; a partition is then reduced by one worker. */
typedef struct yt_writer {
  uint32_t size;
  uint32_t flags;
  yt_status (*begin)(void *self, yt_out *bytes); /* NULL, or: the head of a part, also of one without records */
  /* Records with keys and values, as they were emitted; their types are those of the job's last class. */
  yt_status (*write)(void *self, const yt_batch *records, yt_out *bytes);
  yt_status (*end)(void *self, yt_out *bytes);   /* NULL, or: the foot of a part */
  const char *extension;                         /* NULL, or what names of parts end in, as ".xml"; that of a codec comes behind it */
} yt_writer;

/* ---- classes and the handshake ------------------------------------------------------------------------------------ */

/* Given to create(); valid until destroy() returns. */
typedef struct yt_context {
  uint32_t size;
  uint32_t abi_minor;
  void *engine;
  /* A setting of the job (-D key=value, or the job file's [settings]); p is NULL where it is not set. */
  yt_str (*config)(void *engine, yt_str key);
  /* A counter of this task: add to it with plain increments; NULL where there is no memory. It is summed over all tasks. */
  uint64_t *(*counter)(void *engine, yt_str group, yt_str name);
  /* Why the function that is about to return YT_FAIL fails. */
  void (*error)(void *engine, yt_str message);
  /* One line about what the task does now, for the progress display. */
  void (*status)(void *engine, yt_str message);
  /* One bit for each byte of [p, p+n) that is one of set[0..set_n), set_n in 1..8; bit i%64 of bits[i/64]; bits has
   * (n + 63) / 64 words, and the bits from n on are 0. SIMD chosen at run time. */
  void (*mask_any)(const uint8_t *p, uint64_t n, const uint8_t *set, uint32_t set_n, uint64_t *bits);
  /* The task: map or reduce, its number (the split or the partition), the number of partitions. */
  uint32_t is_reduce, task, partitions, pad;
  /* Where runs of bytes of a set end and begin (words, with their separators as the set): positions in [p, p+n), ascending, of each
   * byte that is in the set where the byte before is not, or the other way round. They are counted from base, modulo 2^32, and written
   * to `to`, which has room for n + 64; how many there are is returned. *before is 1 where the byte before p is in the set (or there is
   * none), else 0, and tells the same of the last byte afterwards. set_n in 1..8. SIMD chosen at run time. Since minor 2. */
  uint64_t (*edges)(const uint8_t *p, uint64_t n, const uint8_t *set, uint32_t set_n, uint32_t base, uint32_t *before, uint32_t *to);
  /* The content of a side file of the job, by its name without directories; p is NULL where there is none. Since minor 3. */
  yt_str (*side_file)(void *engine, yt_str name);
  /* The name of a file of the input, by yt_batch.file_index; p is NULL where there is none, as in a reduce. Since minor 3. */
  yt_str (*input)(void *engine, uint32_t file_index);
  /* One of the job's named outputs, for records of these types (form COPY), until destroy(): each operator of a task asks once for a
   * name. NULL: the job has no such output, or it cannot be written; return YT_FAIL, the engine knows why. Only of mappers and
   * reducers, on their own threads. Since minor 4. */
  yt_out *(*output)(void *engine, yt_str name, yt_type key_type, yt_type value_type);
  uint64_t reserved[4];
} yt_context;

/* yt_class.flags */
#define YT_PURE 1u           /* reducer: what it emits for a group depends on that group alone, so that ranges of keys
                                may be reduced by several instances at once */
#define YT_EMITS_REFS 2u     /* mapper: keys are slices of the batch and values have 8 bytes: it can do YT_FORM_REF */
#define YT_EMITS_ONE 4u      /* mapper: keys are slices of the batch and each value is the u64 1: it can do YT_FORM_ONE */
#define YT_WANTS_SPAN 8u     /* mapper: hand over whole spans of text, lines not marked */
#define YT_GROUPS 16u        /* key order: it sets group[], so that groups have a part of the key in common */
/* All classes can do YT_FORM_COPY. */

/* A class: its name, its types, and the functions of its kind. */
typedef struct yt_class {
  uint32_t size;
  yt_kind kind;
  const char *name;            /* "WordCount.Tokenizer": letters, digits, '_', '.', NUL-terminated */
  uint32_t flags;
  yt_type key_type, value_type; /* what it emits; key_type YT_NONE of a reducer, combiner or folder: the keys that it is given;
                                   writer: what it takes, YT_NONE: any */
  yt_type in_value_type;        /* reducer, combiner, folder: the value type it expects; YT_NONE: any */
  yt_status (*create)(const yt_context *, void **self);
  void (*destroy)(void *self);
  yt_status (*map)(void *self, const yt_batch *, yt_out *);       /* mapper */
  yt_status (*reduce)(void *self, const yt_groups *, yt_out *);   /* reducer, combiner */
  /* partitioner: part[i] in 0 .. parts-1 for each record; equal keys must get equal numbers where a reducer or folder follows */
  yt_status (*partition)(void *self, const yt_batch *, uint32_t parts, uint32_t *part);
  const yt_folder *folder;     /* folder; also a combiner or reducer that is one: then the engine may fold instead */
  yt_status (*flush)(void *self, yt_out *);  /* NULL, or: end of the task, may still emit (form COPY); not of readers and writers */
  const yt_reader *reader;     /* reader; since minor 4 */
  const yt_writer *writer;     /* writer; since minor 4 */
  /* key order: emits one record for each of the batch, in its order: as key a form of the record's key (and of its value, if that
   * decides too), as value nothing. Records are sorted by these forms: byte by byte, unsigned, a prefix before what it begins;
   * equal forms in the order of emission. Records with equal forms are of one group, and go to one partition.
   * With YT_GROUPS, group[i], UINT32_MAX before, is how many leading bytes of form i tell groups apart: groups are then formed, and
   * partitions chosen, by these alone. No such beginning may be a prefix of another: end or escape what has no fixed length.
   * Forms may not depend on the task. Since minor 4. */
  yt_status (*arrange)(void *self, const yt_batch *, yt_out *forms, uint32_t *group);
  uint64_t reserved[3];
} yt_class;

/* All classes of a library, with the version of the ABI that it was built with. */
typedef struct yt_library {
  uint32_t size, abi_major, abi_minor, n;
  const char *name, *version;
  const yt_class *const *classes;
} yt_library;

/* The one exported symbol. engine_abi is (major << 16 | minor) of the engine; NULL refuses it. */
__attribute__((visibility("default"))) const yt_library *yunti_library_v0(uint32_t engine_abi);

#ifdef __cplusplus
}
#endif
#endif
