/* yunti.h from plain C99: the layout of every struct on 64-bit machines, and a class without any C++.
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
AT(yt_class, arrange, 104);
AT(yt_class, reserved, 112);

ASSERT(sizeof(yt_library) == 40);
AT(yt_library, size, 0);
AT(yt_library, abi_major, 4);
AT(yt_library, abi_minor, 8);
AT(yt_library, n, 12);
AT(yt_library, name, 16);
AT(yt_library, version, 24);
AT(yt_library, classes, 32);

/* C.Lines: each line with the number 1, and a counter. */
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
    l->context->error(l->context->engine, text("C.Lines: lines and the copying form are expected"));
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
static const yt_class *const classes[] = {&lines_class};
static const yt_library library = {sizeof(yt_library), YT_ABI_MAJOR, YT_ABI_MINOR, 1, "C", "1.0", classes};

const yt_library *yunti_library_v0(uint32_t engine_abi) { return engine_abi >> 16 == YT_ABI_MAJOR ? &library : NULL; }
