/* Shared tables in C: a file of `yunti table build` (.ytab), mapped by every process that looks up its keys.
 *
 *   yunti_table_error error;
 *   yunti_table *users = yunti_table_open("users.ytab", 0, &error);
 *   if (users == NULL) return report(error.text);
 *   int name = yunti_table_column(users, "name");
 *   yunti_table_row row;
 *   if (yunti_table_get_i64(users, 4711, &row, &error) == 1) {
 *     const char *text;
 *     uint64_t bytes;
 *     yunti_table_row_text(&row, name, &text, &bytes, &error);
 *   }
 *   yunti_table_close(users);
 *
 * The library is libyunti_table.so (pkg-config yunti-table); C++ programs include <yunti/table.hpp> instead.
 *
 * Functions with `error` return -1, or NULL, if they fail, and set its text; `error` may be NULL. A table may be used
 * by any number of threads; keys and walks by one at a time. Rows and texts are views of the mapping, valid until
 * yunti_table_close. A file that is cut or written to while it is mapped may end the process by SIGBUS.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef YUNTI_TABLE_H
#define YUNTI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open table. */
typedef struct yunti_table yunti_table;
/* A key of several columns. */
typedef struct yunti_table_key yunti_table_key;
/* A walk over rows. */
typedef struct yunti_table_walk yunti_table_walk;

/* Text of an error, in one line; cut if it is longer. */
typedef struct yunti_table_error {
  char text[512];
} yunti_table_error;

/* A row, or a record. Its members belong to the library; `fields` is NULL if there is no row. */
typedef struct yunti_table_row {
  const void *fields;
  const char *p;
  uint64_t n;
} yunti_table_row;

/* A list. `element` and what follows belong to the library. */
typedef struct yunti_table_list {
  uint64_t size;
  const void *element;
  const char *p;
  uint64_t n;
} yunti_table_list;

/* Options of yunti_table_open, as in table/file.hpp. */
enum {
  YUNTI_TABLE_POPULATE = 1,   /* reads the whole file at the start */
  YUNTI_TABLE_HUGE_PAGES = 2, /* lets the kernel map large pages */
  YUNTI_TABLE_LOCK = 4,       /* keeps the pages in memory; fails without the right to do so */
  YUNTI_TABLE_INTERLEAVE = 8, /* spreads new pages over NUMA nodes */
  YUNTI_TABLE_TRUST = 16      /* skips the checksums */
};

/* Maps a table. `options`: a sum of YUNTI_TABLE_..; 0 for none. */
yunti_table *yunti_table_open(const char *path, uint32_t options, yunti_table_error *error);
/* Closes a table. Its rows and texts are not valid behind this. */
void yunti_table_close(yunti_table *table);
/* Returns the table that is at the path now, to be closed too; NULL without a text in `error` if it is the same. */
yunti_table *yunti_table_reopen(const yunti_table *table, yunti_table_error *error);
/* Checks every byte. Returns 0. */
int yunti_table_verify(const yunti_table *table, yunti_table_error *error);

/* Returns the number of keys. */
uint64_t yunti_table_size(const yunti_table *table);
/* Returns the number of rows: as many as keys, unless a key has several. */
uint64_t yunti_table_row_count(const yunti_table *table);
/* Returns the number of columns. */
int yunti_table_column_count(const yunti_table *table);
/* Returns the number of a column by its name; -1 if there is none. */
int yunti_table_column(const yunti_table *table, const char *name);
/* Returns the name of a column; NULL if there is no such column. */
const char *yunti_table_column_name(const yunti_table *table, int column);
/* Returns the name of the type of a column, as `yunti table build` takes it; NULL if there is no such column. */
const char *yunti_table_column_type(const yunti_table *table, int column);

/* Looks up a key: an integer or bool; the next two: other types. Returns 1 and the row, the first if the key has
 * several; 0 if the table does not have the key. */
int yunti_table_get_i64(const yunti_table *table, int64_t key, yunti_table_row *row, yunti_table_error *error);
/* Looks up an integer without a sign. */
int yunti_table_get_u64(const yunti_table *table, uint64_t key, yunti_table_row *row, yunti_table_error *error);
/* Looks up a text or bytes. */
int yunti_table_get_bytes(const yunti_table *table, const void *key, uint64_t bytes, yunti_table_row *row,
                          yunti_table_error *error);
/* Looks up many keys at once, which is faster: rows[i].fields is NULL if the table does not have keys[i]. Returns the
 * number of keys that were found. */
int64_t yunti_table_get_batch_i64(const yunti_table *table, const int64_t *keys, uint64_t count, yunti_table_row *rows,
                                  yunti_table_error *error);
/* Looks up many texts at once. */
int64_t yunti_table_get_batch_bytes(const yunti_table *table, const void *const *keys, const uint64_t *bytes,
                                    uint64_t count, yunti_table_row *rows, yunti_table_error *error);

/* Begins a key of several columns, whose values are added in the order of the key. Returns NULL without memory. */
yunti_table_key *yunti_table_key_new(void);
/* Adds an integer or bool. Returns 0. */
int yunti_table_key_add_i64(yunti_table_key *key, int64_t value, yunti_table_error *error);
/* Adds an integer without a sign. Returns 0. */
int yunti_table_key_add_u64(yunti_table_key *key, uint64_t value, yunti_table_error *error);
/* Adds a text or bytes. Returns 0. */
int yunti_table_key_add_bytes(yunti_table_key *key, const void *value, uint64_t bytes, yunti_table_error *error);
/* Takes all values out, for another key. */
void yunti_table_key_clear(yunti_table_key *key);
/* Ends a key; NULL is none. */
void yunti_table_key_free(yunti_table_key *key);
/* Looks up a key of several columns. Returns 1 and the row, or 0. */
int yunti_table_get_key(const yunti_table *table, const yunti_table_key *key, yunti_table_row *row,
                        yunti_table_error *error);

/* Walks over all rows. */
yunti_table_walk *yunti_table_rows(const yunti_table *table, yunti_table_error *error);
/* Walks over the rows of a key. */
yunti_table_walk *yunti_table_rows_of(const yunti_table *table, const yunti_table_key *key, yunti_table_error *error);
/* Walks over keys from `from` to before `to`, in their order; NULL is an open end. The table needs an order. */
yunti_table_walk *yunti_table_range(const yunti_table *table, const yunti_table_key *from, const yunti_table_key *to,
                                    yunti_table_error *error);
/* Walks over keys that begin with a key, in their order. The table needs an order. */
yunti_table_walk *yunti_table_prefix(const yunti_table *table, const yunti_table_key *key, yunti_table_error *error);
/* Returns 1 and the next row; 0 at the end. */
int yunti_table_next(yunti_table_walk *walk, yunti_table_row *row, yunti_table_error *error);
/* Ends a walk; NULL is none. */
void yunti_table_walk_free(yunti_table_walk *walk);

/* Reads an integer or bool of a row. Returns 1 and the value; 0 if it is missing. */
int yunti_table_row_i64(const yunti_table_row *row, int column, int64_t *value, yunti_table_error *error);
/* Reads an integer without a sign. Returns 1 and the value; 0 if it is missing. */
int yunti_table_row_u64(const yunti_table_row *row, int column, uint64_t *value, yunti_table_error *error);
/* Reads a number as a double. Returns 1 and the value; 0 if it is missing. */
int yunti_table_row_f64(const yunti_table_row *row, int column, double *value, yunti_table_error *error);
/* Reads a bool. Returns 1 and the value; 0 if it is missing. */
int yunti_table_row_bool(const yunti_table_row *row, int column, int *value, yunti_table_error *error);
/* Reads a text or bytes. Returns 1 and the value, a view of the file; 0 if it is missing. */
int yunti_table_row_text(const yunti_table_row *row, int column, const char **text, uint64_t *bytes,
                         yunti_table_error *error);
/* Reads a record as a row of its fields. Returns 1; 0 if it is missing. */
int yunti_table_row_record(const yunti_table_row *row, int column, yunti_table_row *record, yunti_table_error *error);
/* Reads a list. Returns 1; 0 if it is missing. */
int yunti_table_row_list(const yunti_table_row *row, int column, yunti_table_list *list, yunti_table_error *error);
/* Returns the number of a field of a row or record by its name; -1 if there is none. */
int yunti_table_row_column(const yunti_table_row *row, const char *name);

/* Reads an integer or bool of a list, by its number from 0. Elements of variable length are found by a walk from the
 * first. Returns 1 and the value; 0 if it is missing. */
int yunti_table_list_i64(const yunti_table_list *list, uint64_t number, int64_t *value, yunti_table_error *error);
/* Reads an integer without a sign. Returns 1 and the value; 0 if it is missing. */
int yunti_table_list_u64(const yunti_table_list *list, uint64_t number, uint64_t *value, yunti_table_error *error);
/* Reads a number as a double. Returns 1 and the value; 0 if it is missing. */
int yunti_table_list_f64(const yunti_table_list *list, uint64_t number, double *value, yunti_table_error *error);
/* Reads a text or bytes. Returns 1 and the value, a view of the file; 0 if it is missing. */
int yunti_table_list_text(const yunti_table_list *list, uint64_t number, const char **text, uint64_t *bytes,
                          yunti_table_error *error);
/* Reads a record as a row of its fields. Returns 1; 0 if it is missing. */
int yunti_table_list_record(const yunti_table_list *list, uint64_t number, yunti_table_row *record,
                            yunti_table_error *error);

#ifdef __cplusplus
}
#endif
#endif
