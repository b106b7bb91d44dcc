/* Class library in plain C whose classes break the rules. The tests of the command run each class and expect one line.
 * -DMAJOR=n builds a library of another version, -DREFUSES one that refuses the engine, -DNO_TABLE one without classes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "yunti.h"

#ifndef MAJOR
#define MAJOR YT_ABI_MAJOR
#endif

static yt_str str(const char *text) {
  yt_str s = {(const uint8_t *)text, strlen(text)};
  return s;
}

static const yt_context *context_of(void *self) { return (const yt_context *)self; }

static yt_status create(const yt_context *context, void **self) {
  *self = (void *)context;
  return YT_OK;
}

static yt_status create_fails(const yt_context *context, void **self) {
  *self = 0;
  context->error(context->engine, str("set broken.key"));
  return YT_FAIL;
}

static yt_status create_silent(const yt_context *context, void **self) {
  (void)context, (void)self;
  return YT_NOMEM;
}

static yt_status map_fails(void *self, const yt_batch *batch, yt_out *out) {
  (void)batch, (void)out;
  const yt_context *context = context_of(self);
  context->error(context->engine, str("the first message\nhas two lines"));
  context->error(context->engine, str("the second message"));
  return YT_FAIL;
}

static yt_status map_silent(void *self, const yt_batch *batch, yt_out *out) {
  (void)self, (void)batch, (void)out;
  return 77;
}

/* A key of 3 GiB without memory behind it: the engine must refuse the length alone. */
static yt_status map_huge(void *self, const yt_batch *batch, yt_out *out) {
  (void)self;
  yt_str key = {batch->base, 3ull << 30};
  return out->big(out, key, str(""));
}

/* Key and value of 1 GiB each: either alone would be valid. */
static yt_status map_huge_pair(void *self, const yt_batch *batch, yt_out *out) {
  (void)self;
  yt_str half = {batch->base, 1ull << 30};
  return out->big(out, half, half);
}

static yt_status map_huge_overflow(void *self, const yt_batch *batch, yt_out *out) {
  (void)self;
  yt_str half = {batch->base, ~0ull - 5};
  yt_str ten = {batch->base, 10};
  return out->big(out, half, ten);
}

/* Ignores the status of big(): the record is lost, so the task must still fail. */
static yt_status map_deaf(void *self, const yt_batch *batch, yt_out *out) {
  (void)map_huge(self, batch, out);
  return YT_OK;
}

/* Ignores the status of full(): the task must still fail. */
static yt_status map_room(void *self, const yt_batch *batch, yt_out *out) {
  (void)self, (void)batch;
  (void)out->full(out, 1u << 20);
  return YT_OK;
}

static yt_status emit(yt_out *out, const char *key, uint32_t klen, uint32_t vlen) {
  uint64_t need = (8 + (uint64_t)klen + vlen + 7) / 8 * 8;
  if ((uint64_t)(out->end - out->cur) < need) {
    yt_status status = out->full(out, need);
    if (status != YT_OK) return status;
  }
  memcpy(out->cur, &klen, 4);
  memcpy(out->cur + 4, &vlen, 4);
  memcpy(out->cur + 8, key, klen);
  memset(out->cur + 8 + klen, 0, vlen);
  out->cur += need;
  return YT_OK;
}

static yt_status map_short_key(void *self, const yt_batch *batch, yt_out *out) {
  (void)self, (void)batch;
  return emit(out, "abc", 3, 8);
}

static yt_status map_long_value(void *self, const yt_batch *batch, yt_out *out) {
  (void)self, (void)batch;
  return emit(out, "abcdefgh", 8, 9);
}

static yt_status map_big_key(void *self, const yt_batch *batch, yt_out *out) {
  static uint8_t bytes[100000];
  (void)self, (void)batch;
  yt_str key = {bytes, sizeof bytes};
  yt_str value = {bytes, 8};
  return out->big(out, key, value);
}

static yt_status map_words(void *self, const yt_batch *batch, yt_out *out) {
  (void)self, (void)batch;
  for (int i = 0; i < 10; i++) {
    yt_status status = emit(out, "abcdefghij" + i, 10 - i, 8);
    if (status != YT_OK) return status;
  }
  return YT_OK;
}

static yt_status flush_fails(void *self, yt_out *out) {
  (void)out;
  const yt_context *context = context_of(self);
  context->error(context->engine, str("the end was bad"));
  return YT_FAIL;
}

static yt_status reduce_fails(void *self, const yt_groups *groups, yt_out *out) {
  (void)groups, (void)out;
  const yt_context *context = context_of(self);
  context->error(context->engine, str("no reduce today"));
  return YT_FAIL;
}

/* Combiner that gives each group another key, out of order. */
static yt_status reduce_turns(void *self, const yt_groups *groups, yt_out *out) {
  static int turn;
  (void)self;
  for (uint32_t i = 0; i < groups->n; i++) {
    yt_status status = emit(out, turn++ % 2 ? "a" : "z", 1, 8);
    if (status != YT_OK) return status;
  }
  return YT_OK;
}

static yt_status partition_wrong(void *self, const yt_batch *batch, uint32_t parts, uint32_t *part) {
  (void)self;
  for (uint32_t i = 0; i < batch->n; i++) part[i] = parts + 7;
  return YT_OK;
}

/* Leaves the partition numbers unset. */
static yt_status partition_nothing(void *self, const yt_batch *batch, uint32_t parts, uint32_t *part) {
  (void)self, (void)batch, (void)parts, (void)part;
  return YT_OK;
}

static yt_status fold_fails(void *self, void *const *states, const yt_str *values, const uint64_t *v8, uint32_t n) {
  (void)states, (void)values, (void)v8, (void)n;
  const yt_context *context = context_of(self);
  context->error(context->engine, str("this does not fold"));
  return YT_FAIL;
}
static yt_status fold_init(void *self, void *const *states, uint32_t n) {
  (void)self, (void)states, (void)n;
  return YT_OK;
}
static yt_status fold_merge(void *self, void *const *into, const void *const *from, uint32_t n) {
  (void)self, (void)into, (void)from, (void)n;
  return YT_OK;
}
static yt_status fold_finish(void *self, const yt_str *keys, const void *const *states, uint32_t n, yt_out *out) {
  (void)self, (void)keys, (void)states, (void)n, (void)out;
  return YT_OK;
}
static const yt_folder folder = {sizeof(yt_folder), 8, YT_FOLD_USER, 1, fold_init, fold_fails, fold_merge, fold_finish};

#define MAPPER(NAME, KEY, VALUE, MAP) \
  {.size = sizeof(yt_class), .kind = YT_MAPPER, .name = "Broken." NAME, .key_type = KEY, .value_type = VALUE, \
   .create = create, .map = MAP}

static const yt_class classes[] = {
    {.size = sizeof(yt_class), .kind = YT_MAPPER, .name = "Broken.CreateFails", .key_type = YT_BYTES,
     .value_type = YT_BYTES,
     .create = create_fails, .map = map_words},
    {.size = sizeof(yt_class), .kind = YT_MAPPER, .name = "Broken.CreateSilent", .key_type = YT_BYTES,
     .value_type = YT_BYTES,
     .create = create_silent, .map = map_words},
    {.size = sizeof(yt_class), .kind = YT_MAPPER, .name = "Broken.FlushFails", .key_type = YT_BYTES,
     .value_type = YT_I64,
     .create = create, .map = map_words, .flush = flush_fails},
    MAPPER("Fails", YT_BYTES, YT_BYTES, map_fails),
    MAPPER("Silent", YT_BYTES, YT_BYTES, map_silent),
    MAPPER("Huge", YT_BYTES, YT_BYTES, map_huge),
    MAPPER("HugePair", YT_BYTES, YT_BYTES, map_huge_pair),
    MAPPER("HugeOverflow", YT_BYTES, YT_BYTES, map_huge_overflow),
    MAPPER("Deaf", YT_BYTES, YT_BYTES, map_deaf),
    MAPPER("Room", YT_BYTES, YT_BYTES, map_room),
    MAPPER("ShortKey", YT_I64, YT_I64, map_short_key),
    MAPPER("LongValue", YT_I64, YT_I64, map_long_value),
    MAPPER("BigKey", YT_I64, YT_I64, map_big_key),
    MAPPER("Words", YT_BYTES, YT_I64, map_words),
    {.size = sizeof(yt_class), .kind = YT_REDUCER, .name = "Broken.Reduce", .key_type = YT_BYTES, .value_type = YT_I64,
     .create = create, .reduce = reduce_fails},
    {.size = sizeof(yt_class), .kind = YT_COMBINER, .name = "Broken.Turns", .key_type = YT_BYTES, .value_type = YT_I64,
     .create = create, .reduce = reduce_turns},
    {.size = sizeof(yt_class), .kind = YT_PARTITIONER, .name = "Broken.Partition", .create = create,
     .partition = partition_wrong},
    {.size = sizeof(yt_class), .kind = YT_PARTITIONER, .name = "Broken.Nothing", .create = create,
     .partition = partition_nothing},
    {.size = sizeof(yt_class), .kind = YT_FOLDER, .name = "Broken.Fold", .key_type = YT_BYTES, .value_type = YT_I64,
     .in_value_type = YT_I64, .create = create, .folder = &folder},
};

#define N (sizeof classes / sizeof *classes)

const yt_library *yunti_library_v0(uint32_t engine_abi) {
  static const yt_class *list[N];
  static yt_library library = {sizeof(yt_library), MAJOR, YT_ABI_MINOR, N, "Broken", "1.0", list};
  for (unsigned i = 0; i < N; i++) list[i] = &classes[i];
  (void)engine_abi;
#ifdef NO_TABLE
  library.classes = 0;
#endif
#ifdef REFUSES
  return 0;
#endif
  return &library;
}
