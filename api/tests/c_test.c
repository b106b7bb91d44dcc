/* Test of yunti.h in plain C99: the layout of every struct on 64-bit machines, and classes without C++.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "yunti.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ASSERT(c) typedef char JOIN(assert_, __LINE__)[(c) ? 1 : -1]
#define AT(s, f, o) ASSERT(offsetof(s, f) == (o))

ASSERT(sizeof(yt_str) == 16);
AT(yt_str, p, 0);
AT(yt_str, n, 8);
ASSERT(sizeof(yt_status) == 4);
ASSERT(sizeof(yt_kind) == 4);
ASSERT(sizeof(yt_type) == 4);
ASSERT(sizeof(yt_form) == 4);

ASSERT(sizeof(yt_batch) == 72);
AT(yt_batch, size, 0);
AT(yt_batch, n, 4);
AT(yt_batch, base, 8);
AT(yt_batch, koff, 16);
AT(yt_batch, klen, 24);
AT(yt_batch, voff, 32);
AT(yt_batch, vlen, 40);
AT(yt_batch, bytes, 48);
AT(yt_batch, first_position, 56);
AT(yt_batch, flags, 64);
AT(yt_batch, file_index, 68);

ASSERT(sizeof(yt_out) == 88);
AT(yt_out, size, 0);
AT(yt_out, form, 4);
AT(yt_out, cur, 8);
AT(yt_out, end, 16);
AT(yt_out, ref_base, 24);
AT(yt_out, full, 32);
AT(yt_out, big, 40);
AT(yt_out, engine, 48);
AT(yt_out, reserved, 56);

AT(yt_groups, size, 0);
AT(yt_groups, n, 4);
AT(yt_groups, base, 8);
AT(yt_groups, koff, 16);
AT(yt_groups, klen, 24);
AT(yt_groups, first, 32);
AT(yt_groups, voff, 40);
AT(yt_groups, vlen, 48);
AT(yt_groups, v8, 56);
AT(yt_groups, flags, 64);
AT(yt_groups, vkoff, 72);
AT(yt_groups, vklen, 80);
ASSERT(sizeof(yt_groups) == 88);

ASSERT(sizeof(yt_folder) == 48);
AT(yt_folder, size, 0);
AT(yt_folder, state_size, 4);
AT(yt_folder, known, 8);
AT(yt_folder, exact, 12);
AT(yt_folder, init, 16);
AT(yt_folder, fold, 24);
AT(yt_folder, merge, 32);
AT(yt_folder, finish, 40);

ASSERT(sizeof(yt_chunk) == 48);
AT(yt_chunk, size, 0);
AT(yt_chunk, flags, 4);
AT(yt_chunk, base, 8);
AT(yt_chunk, bytes, 16);
AT(yt_chunk, limit, 24);
AT(yt_chunk, position, 32);
AT(yt_chunk, file_index, 40);
AT(yt_chunk, before, 44);

ASSERT(sizeof(yt_reader) == 32);
AT(yt_reader, size, 0);
AT(yt_reader, flags, 4);
AT(yt_reader, look_back, 8);
AT(yt_reader, pad, 12);
AT(yt_reader, find, 16);
AT(yt_reader, read, 24);

ASSERT(sizeof(yt_writer) == 40);
AT(yt_writer, size, 0);
AT(yt_writer, flags, 4);
AT(yt_writer, begin, 8);
AT(yt_writer, write, 16);
AT(yt_writer, end, 24);
AT(yt_writer, extension, 32);

ASSERT(sizeof(yt_context) == 136);
AT(yt_context, size, 0);
AT(yt_context, abi_minor, 4);
AT(yt_context, engine, 8);
AT(yt_context, config, 16);
AT(yt_context, counter, 24);
AT(yt_context, error, 32);
AT(yt_context, status, 40);
AT(yt_context, mask_any, 48);
AT(yt_context, is_reduce, 56);
AT(yt_context, task, 60);
AT(yt_context, partitions, 64);
AT(yt_context, edges, 72);
AT(yt_context, side_file, 80);
AT(yt_context, input, 88);
AT(yt_context, output, 96);
AT(yt_context, reserved, 104);

ASSERT(sizeof(yt_class) == 136);
AT(yt_class, size, 0);
AT(yt_class, kind, 4);
AT(yt_class, name, 8);
AT(yt_class, flags, 16);
AT(yt_class, key_type, 20);
AT(yt_class, value_type, 24);
AT(yt_class, in_value_type, 28);
AT(yt_class, create, 32);
AT(yt_class, destroy, 40);
AT(yt_class, map, 48);
AT(yt_class, reduce, 56);
AT(yt_class, partition, 64);
AT(yt_class, folder, 72);
AT(yt_class, flush, 80);
AT(yt_class, reader, 88);
AT(yt_class, writer, 96);
AT(yt_class, arrange, 104);
AT(yt_class, source, 112);
AT(yt_class, function, 120);
AT(yt_class, aggregate, 128);

ASSERT(sizeof(yt_file) == 56);
AT(yt_file, size, 0);
AT(yt_file, file_index, 4);
AT(yt_file, bytes, 8);
AT(yt_file, name, 16);
AT(yt_file, engine, 32);
AT(yt_file, read_at, 40);
AT(yt_file, hold, 48);

ASSERT(sizeof(yt_scan) == 64);
AT(yt_scan, size, 0);
AT(yt_scan, flags, 4);
AT(yt_scan, key, 8);
AT(yt_scan, value, 16);
AT(yt_scan, n_key, 24);
AT(yt_scan, n_value, 28);
AT(yt_scan, condition, 32);
AT(yt_scan, from, 48);
AT(yt_scan, to, 56);

ASSERT(sizeof(yt_unit) == 32);
AT(yt_unit, number, 0);
AT(yt_unit, position, 8);
AT(yt_unit, bytes, 16);
AT(yt_unit, records, 24);

ASSERT(sizeof(yt_source) == 40);
AT(yt_source, size, 0);
AT(yt_source, flags, 4);
AT(yt_source, plan, 8);
AT(yt_source, open, 16);
AT(yt_source, next, 24);
AT(yt_source, describe, 32);

ASSERT(sizeof(yt_column) == 48);
AT(yt_column, size, 0);
AT(yt_column, type, 4);
AT(yt_column, values, 8);
AT(yt_column, nulls, 16);
AT(yt_column, bytes, 24);
AT(yt_column, offsets, 32);
AT(yt_column, codes, 40);

ASSERT(sizeof(yt_result) == 40);
AT(yt_result, size, 0);
AT(yt_result, type, 4);
AT(yt_result, values, 8);
AT(yt_result, nulls, 16);
AT(yt_result, engine, 24);
AT(yt_result, append, 32);

ASSERT(sizeof(yt_function) == 32);
AT(yt_function, size, 0);
AT(yt_function, flags, 4);
AT(yt_function, n_arguments, 8);
AT(yt_function, result, 12);
AT(yt_function, arguments, 16);
AT(yt_function, call, 24);

ASSERT(sizeof(yt_aggregate) == 64);
AT(yt_aggregate, size, 0);
AT(yt_aggregate, flags, 4);
AT(yt_aggregate, state_size, 8);
AT(yt_aggregate, n_arguments, 12);
AT(yt_aggregate, result, 16);
AT(yt_aggregate, pad, 20);
AT(yt_aggregate, arguments, 24);
AT(yt_aggregate, init, 32);
AT(yt_aggregate, add, 40);
AT(yt_aggregate, merge, 48);
AT(yt_aggregate, finish, 56);

ASSERT(sizeof(yt_library) == 40);
AT(yt_library, size, 0);
AT(yt_library, abi_major, 4);
AT(yt_library, abi_minor, 8);
AT(yt_library, n, 12);
AT(yt_library, name, 16);
AT(yt_library, version, 24);
AT(yt_library, classes, 32);

/* C.Lines: a mapper that emits each line with the number 1, and counts them. */
typedef struct lines {
  const yt_context *context;
  uint64_t *counter;
} lines;

static yt_str text(const char *s) {
  yt_str r;
  r.p = (const uint8_t *)s;
  r.n = strlen(s);
  return r;
}

static yt_status lines_create(const yt_context *context, void **self) {
  lines *l = malloc(sizeof *l);
  if (l == NULL) return YT_NOMEM;
  l->context = context;
  l->counter = context->counter(context->engine, text("C"), text("LINES"));
  *self = l;
  return YT_OK;
}

static void lines_destroy(void *self) { free(self); }

static yt_status lines_map(void *self, const yt_batch *b, yt_out *out) {
  lines *l = self;
  const uint64_t one = 1;
  uint32_t i;
  if (out->form != YT_FORM_COPY || b->voff == NULL) {
    l->context->error(l->context->engine, text("C.Lines needs lines and the form COPY"));
    return YT_FAIL;
  }
  for (i = 0; i < b->n; ++i) {
    const uint32_t head[2] = {b->vlen[i], 8};
    const uint64_t need = (8 + (uint64_t)b->vlen[i] + 8 + 7) / 8 * 8;
    ++*l->counter;
    if ((uint64_t)(out->end - out->cur) < need) {
      yt_status status;
      if (need > YT_BIG_BYTES) {
        yt_str key, value;
        key.p = b->base + b->voff[i];
        key.n = b->vlen[i];
        value.p = (const uint8_t *)&one;
        value.n = 8;
        status = out->big(out, key, value);
        if (status != YT_OK) return status;
        continue;
      }
      status = out->full(out, need);
      if (status != YT_OK) return status;
    }
    memcpy(out->cur, head, 8);
    memcpy(out->cur + 8, b->base + b->voff[i], b->vlen[i]);
    memcpy(out->cur + 8 + b->vlen[i], &one, 8);
    out->cur += need;
  }
  return YT_OK;
}

static const yt_class lines_class = {
    .size = sizeof(yt_class), .kind = YT_MAPPER, .name = "C.Lines", .key_type = YT_BYTES, .value_type = YT_I64,
    .create = lines_create, .destroy = lines_destroy, .map = lines_map};

/* Appends bytes in form BYTES. */
static yt_status append(yt_out *out, const uint8_t *p, uint64_t n) {
  yt_status status = YT_OK;
  if (n > YT_BIG_BYTES) {
    yt_str bytes, none = {NULL, 0};
    bytes.p = p;
    bytes.n = n;
    return out->big(out, bytes, none);
  }
  if ((uint64_t)(out->end - out->cur) < n) status = out->full(out, n);
  if (status != YT_OK) return status;
  memcpy(out->cur, p, n);
  out->cur += n;
  return YT_OK;
}

/* Emits a record in form COPY. */
static yt_status emit(yt_out *out, yt_str key, yt_str value) {
  const uint32_t head[2] = {(uint32_t)key.n, (uint32_t)value.n};
  const uint64_t need = (8 + key.n + value.n + 7) / 8 * 8;
  if ((uint64_t)(out->end - out->cur) < need) {
    yt_status status;
    if (need > YT_BIG_BYTES) return out->big(out, key, value);
    status = out->full(out, need);
    if (status != YT_OK) return status;
  }
  memcpy(out->cur, head, 8);
  memcpy(out->cur + 8, key.p, key.n);
  memcpy(out->cur + 8 + key.n, value.p, value.n);
  out->cur += need;
  return YT_OK;
}

/* C.Pairs: a reader of records of a key and a value, each after its length in two bytes, big-endian. */
static uint64_t length(const uint8_t *p) { return (uint64_t)p[0] << 8 | p[1]; }

static yt_status pairs_read(void *self, const yt_chunk *chunk, yt_out *out, uint64_t *taken) {
  uint64_t at = 0;
  (void)self;
  while (at < chunk->limit && chunk->bytes - at >= 4) {
    const uint8_t *p = chunk->base + at;
    yt_str key, value;
    yt_status status;
    key.n = length(p);
    if (chunk->bytes - at < 4 + key.n) break;
    value.n = length(p + 2 + key.n);
    if (chunk->bytes - at < 4 + key.n + value.n) break;
    key.p = p + 2;
    value.p = key.p + key.n + 2;
    status = emit(out, key, value);
    if (status != YT_OK) return status;
    at += 4 + key.n + value.n;
  }
  *taken = at;
  return YT_OK;
}

/* C.PairsOut: the writer of that format. */
static yt_status pairs_write(void *self, const yt_batch *b, yt_out *out) {
  lines *l = self;
  uint32_t i;
  for (i = 0; i < b->n; ++i) {
    const uint32_t n[2] = {b->klen[i], b->vlen[i]};
    const uint8_t *p[2];
    int j;
    p[0] = b->base + b->koff[i];
    p[1] = b->base + b->voff[i];
    for (j = 0; j < 2; ++j) {
      const uint8_t head[2] = {(uint8_t)(n[j] >> 8), (uint8_t)n[j]};
      yt_status status;
      if (n[j] > 0xffff) {
        l->context->error(l->context->engine, text("C.PairsOut: a key or value has more than 65535 bytes"));
        return YT_FAIL;
      }
      status = append(out, head, 2);
      if (status == YT_OK) status = append(out, p[j], n[j]);
      if (status != YT_OK) return status;
    }
  }
  return YT_OK;
}

static const yt_reader pairs_reader = {sizeof(yt_reader), 0, 0, 0, NULL, pairs_read};
static const yt_writer pairs_writer = {sizeof(yt_writer), 0, NULL, pairs_write, NULL, ".pairs"};
static const yt_class pairs_class = {
    .size = sizeof(yt_class), .kind = YT_READER, .name = "C.Pairs", .key_type = YT_BYTES, .value_type = YT_BYTES,
    .create = lines_create, .destroy = lines_destroy, .reader = &pairs_reader};
static const yt_class pairs_out_class = {
    .size = sizeof(yt_class), .kind = YT_WRITER, .name = "C.PairsOut", .key_type = YT_BYTES, .value_type = YT_BYTES,
    .create = lines_create, .destroy = lines_destroy, .writer = &pairs_writer};

static const yt_class *const classes[] = {&lines_class, &pairs_class, &pairs_out_class};
static const yt_library library = {sizeof(yt_library), YT_ABI_MAJOR, YT_ABI_MINOR, 3, "C", "1.0", classes};

const yt_library *yunti_library_v0(uint32_t engine_abi) { return engine_abi >> 16 == YT_ABI_MAJOR ? &library : NULL; }
