/* C ABI, version 0, between Yunti's engine and class libraries. Every type that crosses the boundary is declared here.
 *
 * A class library is a shared object that exports one symbol, yunti_library_v0(). The symbol returns a table of
 * classes: mappers, combiners, reducers, folders, partitioners, readers, sources, writers, key orders, functions and
 * aggregates. The engine passes batches of 32-256 KB, or columns of some thousand rows, and receives batches: one call
 * per batch, never one per record. C++ users include <yunti/yunti.hpp>, which is built on this file.
 *
 * Rules for all functions
 *   - Every struct starts with its own size, so either side may be older than the other. Fields are only appended.
 *   - Input buffers have YT_SLACK readable bytes after their last record; output blocks have YT_SLACK writable bytes
 *     after `end`. Their content is unspecified.
 *   - Nothing is aligned unless stated: load with memcpy.
 *   - Byte strings are not NUL-terminated and may hold any byte. Key + value of a record: at most 2^31-1 bytes.
 *   - The engine remembers a failed call of full() or big(): the task fails even if the operator returns YT_OK.
 *   - Numbers (YT_I32 ..) are little-endian in memory, two's complement or IEEE 754.
 *   - No exception, longjmp or exit crosses this boundary. A function that fails calls yt_context.error with the reason
 *     and returns YT_FAIL; the job ends with that message.
 *   - An instance serves one task (a split, or a partition) and is destroyed after it. One thread at a time uses it.
 *   - The engine loads a library once and never closes it.
 *
 * Version 0 may change until streaming, isolation and Hadoop have used it. After that it is frozen and only grows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef YUNTI_H
#define YUNTI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the ABI. The engine refuses a library of another major version. A minor version only appends fields. */
#define YT_ABI_MAJOR 0u
#define YT_ABI_MINOR 6u
/* Bytes after a buffer that may be read (input) or overwritten (output). */
#define YT_SLACK 64u

/* A byte string: address and length in bytes. */
typedef struct yt_str {
  const uint8_t *p;
  uint64_t n;
} yt_str;

/* Result of a function of either side. */
typedef int32_t yt_status;
enum {
  YT_OK = 0,
  YT_FAIL = 1,  /* the job fails with the message given to yt_context.error */
  YT_STOP = 3,  /* from full() and big(): the job is being cancelled; return it */
  YT_NOMEM = 4, /* an allocation failed */
  /* From a source, with the message given to yt_context.error. Since minor 5. */
  YT_DAMAGED = 5,    /* the file is damaged */
  YT_UNSUPPORTED = 6 /* the source cannot read the file, or the file has no such column */
};

/* Kind of a class. */
typedef uint32_t yt_kind;
enum {
  YT_MAPPER = 1, YT_REDUCER = 2, YT_COMBINER = 3, YT_FOLDER = 4, YT_PARTITIONER = 5, YT_READER = 6, YT_WRITER = 7,
  YT_KEY_ORDER = 8, YT_SOURCE = 9, YT_FUNCTION = 10, YT_AGGREGATE = 11
};

/* Type of a key or a value. It defines the order of keys and how a text writer prints them. */
typedef uint32_t yt_type;
enum {
  YT_NONE = 0,  /* no value (length 0); text output then has no tab */
  YT_BYTES = 1, /* ordered byte by byte, unsigned, a prefix before its continuations */
  YT_I32 = 2,
  YT_I64 = 3,
  YT_U32 = 4,
  YT_U64 = 5,
  YT_F32 = 6,   /* ordered as IEEE 754 totalOrder: -NaN < -inf < .. -0 < +0 .. < inf < NaN */
  YT_F64 = 7
};

/* ---- input: a batch of records in one buffer, valid until the call returns --------------------------------------- */

/* A batch of input records.
 *
 * Record i has the key base + koff[i] with klen[i] bytes, and the value base + voff[i] with vlen[i] bytes.
 * Text input has no stored keys: koff is NULL, and the key of line i is its byte offset in the file,
 * first_position + voff[i]. Lines exclude their line end. */
typedef struct yt_batch {
  uint32_t size;
  uint32_t n;                  /* number of records; 0 for a span */
  const uint8_t *base;
  const uint32_t *koff, *klen; /* NULL: no stored keys */
  const uint32_t *voff, *vlen; /* NULL: a span */
  uint64_t bytes;              /* the batch is [base, base + bytes) */
  uint64_t first_position;     /* byte offset of base in the (decompressed) file */
  uint32_t flags;              /* YT_BATCH_.. */
  uint32_t file_index;         /* index of the file in the job's input, from 0 */
} yt_batch;

/* Flag of a batch [base, base+bytes) without record marks: whole records with their line ends. The last line of a file
 * may lack its line end. Only a mapper with YT_WANTS_SPAN receives spans. */
#define YT_BATCH_SPAN 1u

/* ---- output: an append cursor into a block, bumped inline by the user's code ------------------------------------- */

/* Layout of records in an output block. The engine selects one that the class supports (see yt_class.flags).
 *   YT_FORM_COPY: u32 klen, u32 vlen, key, value, zero to seven bytes of padding: every record starts 8-aligned.
 *   YT_FORM_ONE:  u32 koff, u32 klen: the key is a slice of the input batch (from ref_base), the value the u64 1.
 *   YT_FORM_REF:  u32 koff, u32 klen, u64 value: the same with a value of eight bytes.
 *   YT_FORM_BYTES: the bytes of the output, without records. Only for writers. Since minor 4. */
typedef uint32_t yt_form;
enum { YT_FORM_COPY = 1, YT_FORM_ONE = 2, YT_FORM_REF = 3, YT_FORM_BYTES = 4 };

/* Output cursor of a class: a block with free room, whose `cur` the class advances. */
typedef struct yt_out yt_out;
struct yt_out {
  uint32_t size;
  yt_form form;
  uint8_t *cur, *end;      /* free room: [cur, end), then YT_SLACK bytes that may be overwritten */
  const uint8_t *ref_base; /* forms ONE and REF: base address of koff */
  /* Submits the filled block. On YT_OK, end - cur >= need. Return any other status. need <= 64 KiB. */
  yt_status (*full)(yt_out *, uint64_t need);
  /* Form COPY: the engine copies a record that needs more than 64 KiB of block and does not fit in [cur, end).
   * Form BYTES: the same for more than 64 KiB of bytes, first those of key, then those of value. */
  yt_status (*big)(yt_out *, yt_str key, yt_str value);
  void *engine;
  uint64_t reserved[4];
};
/* Bytes of block above which a record goes through big(), whole. */
#define YT_BIG_BYTES 65536u

/* ---- groups: the input of reducers and combiners ----------------------------------------------------------------- */

/* A batch of groups in key order. Group i has the key base + koff[i] and the values first[i] .. first[i+1]-1.
 *
 * A long group spans several batches. Then YT_GROUP_MORE marks the last group of a batch, and YT_GROUP_CONT the first
 * group of the next, with the same key again. Values of a group come in the order (split, order of emission). */
typedef struct yt_groups {
  uint32_t size;
  uint32_t n;                  /* number of groups */
  const uint8_t *base;
  const uint32_t *koff, *klen;
  const uint32_t *first;       /* n + 1 entries */
  const uint32_t *voff, *vlen; /* NULL if v8 is set */
  const uint64_t *v8;          /* values whose type has 8 bytes, packed; else NULL */
  uint32_t flags;              /* YT_GROUP_.. */
  uint32_t pad;
  /* Key of each value, base + vkoff[v], if groups share only a part of the key (YT_GROUPS). The key of a group is then
   * the key of its first value. NULL: all keys of a group are equal. Since minor 4. */
  const uint32_t *vkoff, *vklen;
} yt_groups;
/* Flags of a batch of groups. MORE: its last group continues in the next batch. CONT: its first group continues the
 * last group of the previous batch. */
#define YT_GROUP_MORE 1u
#define YT_GROUP_CONT 2u

/* ---- folders: the engine owns a hash table of states ------------------------------------------------------------- */

/* Folds built into the engine, which are faster than calls. */
typedef uint32_t yt_fold_known;
enum {
  YT_FOLD_USER = 0,    /* the functions below */
  YT_FOLD_COUNT = 1,   /* known folds: state and value have 8 bytes, and the engine never calls init, fold or merge */
  YT_FOLD_SUM_I64 = 2, /* wraps around */
  YT_FOLD_MIN_I64 = 3,
  YT_FOLD_MAX_I64 = 4,
  YT_FOLD_SUM_F64 = 5  /* inexact */
};

/* Functions of a folder. States are plain bytes: the engine moves, spills and loads them by memcpy, and never destroys
 * them. In each call n is at most 64. A state may occur several times in `states`: fold in the order given. */
typedef struct yt_folder {
  uint32_t size;
  uint32_t state_size;  /* 1 to 65536 bytes */
  yt_fold_known known;
  uint32_t exact;       /* 1: merge is exact (associative and commutative); the engine may make, merge and evict partial
                           states in any order. 0: each state covers one split, and the engine merges in split order */
  yt_status (*init)(void *self, void *const *states, uint32_t n);
  /* Values of a type with 8 bytes are in v8, and values is NULL; other values are in values. */
  yt_status (*fold)(void *self, void *const *states, const yt_str *values, const uint64_t *v8, uint32_t n);
  yt_status (*merge)(void *self, void *const *into, const void *const *from, uint32_t n);
  /* NULL for a known fold: the record is (key, state as the value type). */
  yt_status (*finish)(void *self, const yt_str *keys, const void *const *states, uint32_t n, yt_out *out);
} yt_folder;

/* ---- readers: records in the bytes of files, since minor 4 ------------------------------------------------------- */

/* A range of bytes of a file, decompressed, valid until the call returns. */
typedef struct yt_chunk {
  uint32_t size;
  uint32_t flags;      /* YT_CHUNK_.. */
  const uint8_t *base;
  uint64_t bytes;      /* the chunk is [base, base + bytes) */
  uint64_t limit;      /* records that begin at or after base + limit belong to the next split; UINT64_MAX: no limit */
  uint64_t position;   /* byte offset of base in the file */
  uint32_t file_index; /* index of the file in the job's input, from 0 */
  uint32_t before;     /* find: the cut is at base + before; else 0 */
} yt_chunk;
#define YT_CHUNK_FIRST 1u /* base is the beginning of the file */
#define YT_CHUNK_LAST 2u  /* the file ends at base + bytes */

/* Functions of a reader. The engine owns files, splits, codecs and buffers; a reader finds records in bytes.
 *
 *      file    | split 0             | split 1             | split 2           |
 *      records |  a  |   b   |    c     |  d  |      e      |   f   |    g     |     a b c | d e | f g
 *                                  cut ^              cut ^
 *
 * A record belongs to the split that holds its first byte. Each record must be read exactly once for any split size, so
 * the beginnings of records must not depend on the cuts: find must return the position that read would reach.
 *
 * Call order for a split, for each of its pieces of files: find if the piece does not begin at the start of its file;
 * then read, repeatedly, each time from the first byte that was not taken. A piece ends when all bytes before its limit
 * are taken. A piece without a limit ends with its file; its last call has YT_CHUNK_LAST and no bytes, and a reader
 * that kept a record may emit it there. A split may end after find. If the engine samples keys, separate instances read
 * some of the input and may be destroyed at any time.
 *
 * Errors: if either function fails, the job ends with the message, the file and the byte. */
typedef struct yt_reader {
  uint32_t size;
  uint32_t flags;      /* 0 */
  uint32_t look_back;  /* bytes before a cut that find sees, at most 4096; fewer at the beginning of a file */
  uint32_t pad;
  /* Sets *start to the offset from base of the first record that begins at or after base + before, in before .. bytes.
   * An offset of limit or more: no record begins in this split. UINT64_MAX: find needs more bytes; with YT_CHUNK_LAST:
   * no record begins in the rest of the file.
   * NULL: files cannot be cut, and each is read from beginning to end. Compressed files are always read so. */
  yt_status (*find)(void *self, const yt_chunk *, uint64_t *start);
  /* Emits (form COPY) whole records that begin before base + limit, in order. Sets *taken to the number of bytes it
   * consumed: records and the bytes between them. A record that begins before the limit is read to its end.
   * 0 taken and nothing emitted: read needs more bytes. The next call has them, in a buffer that grows for one record.
   * With YT_CHUNK_LAST there are no more: 0 taken of a non-empty chunk is the error of a file that ends in a record.
   * The job ends if read emits records with 0 bytes taken, or takes more bytes than the chunk has. */
  yt_status (*read)(void *self, const yt_chunk *, yt_out *out, uint64_t *taken);
} yt_reader;

/* ---- sources: records in files that are not read from front to back, since minor 5 ------------------------------- */

/* A file of the job's input. It is valid until the instance that got it is destroyed; the functions may be called on
 * the thread that runs a call of the instance. A failed function returns YT_FAIL: return any failure, and the engine
 * reports its own reason, with the file. */
typedef struct yt_file {
  uint32_t size;
  uint32_t file_index; /* index of the file in the job's input, from 0 */
  uint64_t bytes;      /* length of the file */
  yt_str name;
  void *engine;
  /* Fills [to, to + n) with the bytes of the file at `offset`. Fails if the file ends before. */
  yt_status (*read_at)(void *engine, uint64_t offset, uint8_t *to, uint64_t n);
  /* Sets the bytes of memory that the instance holds for this file; call it before allocating. Fails if the memory
   * budget of the job has too little. */
  yt_status (*hold)(void *engine, uint64_t bytes);
} yt_file;

/* Columns of a job's records, by name; in a nested file by a path of names with dots. */
typedef struct yt_scan {
  uint32_t size;
  uint32_t flags;            /* YT_SCAN_.. */
  const yt_str *key, *value; /* columns of the key and of the value. No column of either: the first is the key. No
                                column of the value: all that are not in the key */
  uint32_t n_key, n_value;
  yt_str condition;          /* empty; later versions: a condition that records must meet */
  uint64_t from, to;         /* for plan: only units that begin in [from, to) are needed; to is 0: up to the end. Ranges
                                that cut a file divide its units: each is planned in the one where it begins */
} yt_scan;
/* The job does not use values: each is empty, whatever `value` says. A key may be emitted fewer times than it occurs,
 * but once at least. */
#define YT_SCAN_NO_VALUE 1u
/* A null is \N, and all columns are escaped, even a single one. Without it a null is empty. */
#define YT_SCAN_MARKS_NULLS 2u
/* For a source with YT_SOURCE_BLOCKS alone: instead of records, next emits blocks of the columns of `value`, and of no
 * others: each is the value of a record without a key. docs/formats/column-block.md is the layout. */
#define YT_SCAN_BLOCKS 4u

/* Part of a file that one task reads, as a whole: a row group, a stripe, a block. */
typedef struct yt_unit {
  uint64_t number;   /* any value by which open finds it */
  uint64_t position; /* offset of its first byte in the file */
  uint64_t bytes;    /* stored bytes of the columns that the job uses */
  uint64_t records;  /* records in it */
} yt_unit;

/* Takes the units of a file. */
typedef struct yt_units {
  uint32_t size, pad;
  void *engine;
  yt_status (*add)(void *engine, const yt_unit *);
} yt_units;

/* Flag of yt_source.flags: the source can give blocks of columns. */
#define YT_SOURCE_BLOCKS 1u

/* Functions of a source. An instance plans or describes files, or reads units of one file: for each unit open, then
 * next until *more is 0. A record's columns stand in key and value as
 * docs/formats/columns.md says: one column as it is, several escaped and divided by tabs. */
typedef struct yt_source {
  uint32_t size;
  uint32_t flags; /* YT_SOURCE_BLOCKS or 0 */
  /* Adds the units of the file that may have records, in the order of the file. */
  yt_status (*plan)(void *self, const yt_file *, const yt_scan *, const yt_units *);
  yt_status (*open)(void *self, const yt_file *, const yt_scan *, uint64_t unit);
  /* Emits some records (form COPY), about 256 KB; it may emit none. Sets *more to 0 at the end of the unit. */
  yt_status (*next)(void *self, yt_out *out, uint32_t *more);
  /* NULL, or writes a description of the file (form BYTES): a JSON object for `yunti inspect`. */
  yt_status (*describe)(void *self, const yt_file *, yt_out *bytes);
} yt_source;

/* ---- writers: the bytes of an output, since minor 4 -------------------------------------------------------------- */

/* Flag of yt_writer.flags: one instance writes a part from begin to end, in order. Without it, any number of instances
 * write stretches of a part in parallel. */
#define YT_WHOLE_PART 1u

/* Settings that the engine adds for a writer: types and columns of the records. Since minor 5.
 *   yunti.writer.types          names of the key's and the value's type: "bytes i64"; there are none, bytes, i32, i64,
 *                               u32, u64, f32, f64
 *   yunti.writer.key.columns    names of the columns in a key of bytes, a line each; empty: not named
 *   yunti.writer.value.columns  the same of the value
 *   yunti.writer.memory.bytes   memory that each instance may hold between calls */

/* Functions of a writer, form BYTES. The engine owns files, names, codecs and buffers. The bytes that a writer appends
 * go to the file, after compression if the job sets a codec.
 *
 * Without YT_WHOLE_PART the bytes of a record must depend on that record alone: independent instances write a part's
 * begin, its records in stretches of any length, and its end. With YT_WHOLE_PART the call order is begin, write for
 * each batch of the part in order, end; one worker then reduces that partition. */
typedef struct yt_writer {
  uint32_t size;
  uint32_t flags;
  yt_status (*begin)(void *self, yt_out *bytes); /* NULL, or writes the head of a part, even an empty one */
  /* Writes records with the keys and values that were emitted; their types are those of the job's last class. */
  yt_status (*write)(void *self, const yt_batch *records, yt_out *bytes);
  yt_status (*end)(void *self, yt_out *bytes);   /* NULL, or writes the foot of a part */
  const char *extension;                         /* NULL, or the end of part names (".xml"), before a codec's */
} yt_writer;

/* ---- functions and aggregates of queries, since minor 6 ---------------------------------------------------------- */

/* Type of a value in a query, and the SQL type that it is. */
typedef uint32_t yt_value_type;
enum {
  YT_VALUE_BOOL = 1,      /* boolean: uint8_t, 0 or 1 */
  YT_VALUE_I32 = 2,       /* int: in columns an int64_t; as a result, one outside of 32 bits is an error */
  YT_VALUE_I64 = 3,       /* bigint: int64_t */
  YT_VALUE_F64 = 4,       /* double: double */
  YT_VALUE_TEXT = 5,      /* varchar: UTF-8 */
  YT_VALUE_BYTES = 6,     /* bytea: any bytes */
  YT_VALUE_DATE = 7,      /* date: int64_t, days since 1970-01-01, within 32 bits */
  YT_VALUE_TIMESTAMP = 8  /* timestamp: int64_t, microseconds since 1970-01-01 */
};

/* A column of values of some rows, valid until the call returns. Arrays are aligned for their elements. */
typedef struct yt_column {
  uint32_t size;
  yt_value_type type;
  const void *values;      /* a value of each row; NULL for TEXT and BYTES */
  const uint8_t *nulls;    /* 1 for each null, else 0; NULL: there is none. A null has some value of the type */
  /* TEXT and BYTES: string k is bytes + offsets[k] up to bytes + offsets[k + 1]. Row i has the string codes[i], or the
   * string i if codes is NULL. */
  const uint8_t *bytes;
  const uint32_t *offsets;
  const uint32_t *codes;
} yt_column;

/* Values that a call returns, one for each row. */
typedef struct yt_result {
  uint32_t size;
  yt_value_type type;
  void *values;            /* room for all rows, as in yt_column: set each; NULL for TEXT and BYTES */
  uint8_t *nulls;          /* room for all rows, all 0: set 1 for a null */
  void *engine;
  /* TEXT and BYTES: appends the strings of the next n rows; a null needs one too, of any length. All calls together
   * append as many as there are rows. Return any other status than YT_OK. */
  yt_status (*append)(void *engine, const yt_str *strings, uint32_t n);
} yt_result;

/* Flag: rows with nulls are passed to the class. Without it a row in which an argument is null never reaches it: a
 * function's result is null there, and an aggregate ignores the row. */
#define YT_SEES_NULLS 1u
/* Flag of an aggregate, which all must have: its result is the same whatever the order of rows and merges. */
#define YT_EXACT 2u
/* Arguments of a function or an aggregate, at most. */
#define YT_ARGUMENTS_MAX 64u

/* A function of the values of a row. Equal arguments must give equal results: the engine may compute a result once for
 * many rows, or for values that no row has. */
typedef struct yt_function {
  uint32_t size;
  uint32_t flags;          /* YT_SEES_NULLS or 0 */
  uint32_t n_arguments;
  yt_value_type result;
  const yt_value_type *arguments;
  yt_status (*call)(void *self, const yt_column *arguments, uint32_t rows, yt_result *result);
} yt_function;

/* A value computed from the rows of a group, in a state of fixed size. States are plain bytes, not aligned: the engine
 * moves, spills and loads them by memcpy, and never destroys them. A call has any number of rows or states. */
typedef struct yt_aggregate {
  uint32_t size;
  uint32_t flags;          /* YT_EXACT, and YT_SEES_NULLS or not */
  uint32_t state_size;     /* 1 to 65536 bytes */
  uint32_t n_arguments;    /* 1 at least */
  yt_value_type result;
  uint32_t pad;
  const yt_value_type *arguments;
  yt_status (*init)(void *self, void *const *states, uint32_t n);
  /* Adds row i to states[i]. A state may occur many times. */
  yt_status (*add)(void *self, void *const *states, const yt_column *arguments, uint32_t rows);
  yt_status (*merge)(void *self, void *const *into, const void *const *from, uint32_t n);
  /* Sets the result of each state. A group without rows has a state that was only made by init. */
  yt_status (*finish)(void *self, const void *const *states, uint32_t n, yt_result *result);
} yt_aggregate;

/* ---- classes and the handshake ----------------------------------------------------------------------------------- */

/* Services of the engine for an instance: passed to create(), valid until destroy() returns. */
typedef struct yt_context {
  uint32_t size;
  uint32_t abi_minor;
  void *engine;
  /* Returns a setting of the job (-D key=value, or [settings] of the job file); p is NULL if it is not set. */
  yt_str (*config)(void *engine, yt_str key);
  /* Returns a counter of this task: add to it with plain increments. NULL: out of memory. The engine sums over
   * tasks. */
  uint64_t *(*counter)(void *engine, yt_str group, yt_str name);
  /* Sets the reason of a failure: call it before returning YT_FAIL. */
  void (*error)(void *engine, yt_str message);
  /* Sets the line that the progress display shows for this task. */
  void (*status)(void *engine, yt_str message);
  /* Sets bit i%64 of bits[i/64] for each byte p[i], i < n, that is one of set[0..set_n), set_n in 1..8. bits has
   * (n + 63) / 64 words; the bits from n on are 0. SIMD chosen at run time. */
  void (*mask_any)(const uint8_t *p, uint64_t n, const uint8_t *set, uint32_t set_n, uint64_t *bits);
  /* The task: 1 for a reduce task, its number (split or partition), the number of partitions. */
  uint32_t is_reduce, task, partitions, pad;
  /* Finds the ends and beginnings of runs of bytes of a set (with separators as the set: words). Writes to `to` the
   * position of each byte in [p, p+n) that is in the set while the byte before is not, or the reverse; ascending,
   * counted from base, modulo 2^32. `to` has room for n + 64 positions. Returns their number.
   * *before is 1 if the byte before p is in the set or does not exist, else 0; the call sets it for the last byte.
   * set_n in 1..8. SIMD chosen at run time. Since minor 2. */
  uint64_t (*edges)(const uint8_t *p, uint64_t n, const uint8_t *set, uint32_t set_n, uint32_t base, uint32_t *before,
                    uint32_t *to);
  /* Returns the content of a side file, by its name without directories; p is NULL if there is none. Since minor 3. */
  yt_str (*side_file)(void *engine, yt_str name);
  /* Returns the name of an input file by yt_batch.file_index; p is NULL if unknown, as in a reduce. Since minor 3. */
  yt_str (*input)(void *engine, uint32_t file_index);
  /* Returns a named output of the job for records of these types (form COPY), valid until destroy(). Call it once per
   * name in each operator of a task. NULL: the job has no such output, or it cannot be written; return YT_FAIL, and the
   * engine reports the reason. Only for mappers and reducers, on their own threads. Since minor 4. */
  yt_out *(*output)(void *engine, yt_str name, yt_type key_type, yt_type value_type);
  uint64_t reserved[4];
} yt_context;

/* Flags of yt_class.flags. All classes support YT_FORM_COPY. */
#define YT_PURE 1u           /* reducer: its output for a group depends on that group alone, so several instances may
                                reduce ranges of keys in parallel */
#define YT_EMITS_REFS 2u     /* mapper: keys are slices of the batch and values have 8 bytes: supports YT_FORM_REF */
#define YT_EMITS_ONE 4u      /* mapper: keys are slices of the batch and each value is u64 1: supports YT_FORM_ONE */
#define YT_WANTS_SPAN 8u     /* mapper: receives whole spans of text, without line marks */
#define YT_GROUPS 16u        /* key order: it sets group[]; groups then share only a part of the key */

/* A class: its name, its types, and the functions of its kind. */
typedef struct yt_class {
  uint32_t size;
  yt_kind kind;
  const char *name;            /* "WordCount.Tokenizer": letters, digits, '_', '.', NUL-terminated */
  uint32_t flags;
  yt_type key_type, value_type; /* types it emits; writer: types it accepts, YT_NONE: any; YT_NONE as the key_type of a
                                   reducer, combiner or folder: the type of its input keys */
  yt_type in_value_type;        /* reducer, combiner, folder: the value type it expects; YT_NONE: any */
  yt_status (*create)(const yt_context *, void **self);
  void (*destroy)(void *self);
  yt_status (*map)(void *self, const yt_batch *, yt_out *);       /* mapper */
  yt_status (*reduce)(void *self, const yt_groups *, yt_out *);   /* reducer, combiner */
  /* partitioner: sets part[i] in 0 .. parts-1 for each record; equal keys must get equal numbers if a reducer or folder
   * follows */
  yt_status (*partition)(void *self, const yt_batch *, uint32_t parts, uint32_t *part);
  const yt_folder *folder;     /* folder; or a combiner or reducer that is also a folder: the engine may fold instead */
  yt_status (*flush)(void *self, yt_out *);  /* NULL, or the end of the task, may emit (form COPY); no reader, writer */
  const yt_reader *reader;     /* reader; since minor 4 */
  const yt_writer *writer;     /* writer; since minor 4 */
  /* key order: emits one record for each record of the batch, in the same order. Its key is the form of the record's
   * key, and of its value if that decides too; its value is empty. The engine sorts records by these forms: byte by
   * byte, unsigned, a prefix before its continuations; equal forms stay in the order of emission. Records with equal
   * forms are one group and go to one partition.
   * With YT_GROUPS, group[i] (UINT32_MAX at the call) is the number of leading bytes of form i that define its group
   * and its partition. No such beginning may be a prefix of another: terminate or escape parts without a fixed length.
   * Forms must not depend on the task. Since minor 4. */
  yt_status (*arrange)(void *self, const yt_batch *, yt_out *forms, uint32_t *group);
  const yt_source *source;     /* source; since minor 5 */
  const yt_function *function; /* function; since minor 6 */
  const yt_aggregate *aggregate; /* aggregate; since minor 6 */
} yt_class;

/* Table of a library: its classes, and the version of the ABI that it was built with. */
typedef struct yt_library {
  uint32_t size, abi_major, abi_minor, n;
  const char *name, *version;
  const yt_class *const *classes;
} yt_library;

/* Returns the table of the library: the one exported symbol. engine_abi is (major << 16 | minor) of the engine. NULL:
 * the library refuses that version. */
__attribute__((visibility("default"))) const yt_library *yunti_library_v0(uint32_t engine_abi);

#ifdef __cplusplus
}
#endif
#endif
