/* Tables of `yunti table serve` in C: lookups over Unix and TCP sockets.
 *
 *   yunti_table_error error;
 *   yunti_remote_table *users = yunti_remote_open("users", "unix:/run/users,db7:7070", NULL, &error);
 *   if (users == NULL) return report(error.text);
 *   yunti_remote_rows *rows = yunti_remote_rows_new();
 *   yunti_table_row row;
 *   if (yunti_remote_get_i64(users, 4711, rows, &row, &error) == 1) use(&row);
 *   yunti_remote_rows_free(rows);
 *   yunti_remote_close(users);
 *
 * Rows are read by the functions of <yunti/table.h>. They and their texts are views of a yunti_remote_rows, valid until
 * its next lookup or its end, and beyond the end of their table. A table may be used by any number of threads, a
 * yunti_remote_rows by one at a time. Errors are as in <yunti/table.h>. This library has no TLS.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef YUNTI_TABLE_REMOTE_H
#define YUNTI_TABLE_REMOTE_H

#include "../table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of servers. */
typedef struct yunti_remote_table yunti_remote_table;
/* Rows of the last lookup. */
typedef struct yunti_remote_rows yunti_remote_rows;

/* Options of yunti_remote_open, as in table/remote/options.hpp. Zeros mean the defaults. */
typedef struct yunti_remote_options {
  uint64_t size;               /* sizeof(yunti_remote_options) */
  const char *token;           /* token that the servers request */
  const char *columns;         /* columns of the rows, with commas between them; NULL for all */
  uint32_t connect_timeout_ms; /* longest time to connect; 3,000 */
  uint32_t timeout_ms;         /* longest time for one response; 10,000 */
} yunti_remote_options;

/* Opens a table at all of its servers: addresses unix:PATH or HOST:PORT, with commas between them. NULL as the name is
 * their only table; `options` may be NULL. */
yunti_remote_table *yunti_remote_open(const char *name, const char *addresses, const yunti_remote_options *options,
                                      yunti_table_error *error);
/* Closes a table and its connections. */
void yunti_remote_close(yunti_remote_table *table);
/* Opens the table again, to be closed too; NULL without a text in `error` if its servers have the same versions. */
yunti_remote_table *yunti_remote_reopen(const yunti_remote_table *table, yunti_table_error *error);

/* Returns the number of columns of the rows. */
int yunti_remote_column_count(const yunti_remote_table *table);
/* Returns the number of a column by its name; -1 if there is none. */
int yunti_remote_column(const yunti_remote_table *table, const char *name);
/* Returns the name of a column; NULL if there is no such column. */
const char *yunti_remote_column_name(const yunti_remote_table *table, int column);
/* Returns the name of the type of a column; NULL if there is no such column. */
const char *yunti_remote_column_type(const yunti_remote_table *table, int column);

/* Returns the number of servers. */
int yunti_remote_server_count(const yunti_remote_table *table);
/* Returns the address of a server, from 0; NULL if there is no such server. */
const char *yunti_remote_server_address(const yunti_remote_table *table, int server);
/* Takes one counter of a server. The page for Prometheus has the same name, with its labels. */
typedef void (*yunti_remote_take_counter)(void *context, const char *name, double value);
/* Requests the counters of a server as they are now, and gives each to `take`. Returns their number, or -1 if the
 * server is away or refuses. */
int yunti_remote_counters(const yunti_remote_table *table, int server, yunti_remote_take_counter take, void *context,
                          yunti_table_error *error);

/* Returns memory for rows; NULL if there is none. */
yunti_remote_rows *yunti_remote_rows_new(void);
/* Ends rows; NULL is none. */
void yunti_remote_rows_free(yunti_remote_rows *rows);

/* Looks up an integer or bool. Returns 1 and the first row, or 0. */
int yunti_remote_get_i64(const yunti_remote_table *table, int64_t key, yunti_remote_rows *rows, yunti_table_row *row,
                         yunti_table_error *error);
/* Looks up an integer without a sign. */
int yunti_remote_get_u64(const yunti_remote_table *table, uint64_t key, yunti_remote_rows *rows, yunti_table_row *row,
                         yunti_table_error *error);
/* Looks up a text or bytes. */
int yunti_remote_get_bytes(const yunti_remote_table *table, const void *key, uint64_t bytes, yunti_remote_rows *rows,
                           yunti_table_row *row, yunti_table_error *error);
/* Looks up a key of several columns. */
int yunti_remote_get_key(const yunti_remote_table *table, const yunti_table_key *key, yunti_remote_rows *rows,
                         yunti_table_row *row, yunti_table_error *error);
/* Looks up many keys in few requests: out[i].fields is NULL if the table does not have keys[i]. Returns the number of
 * keys that were found. */
int64_t yunti_remote_get_batch_i64(const yunti_remote_table *table, const int64_t *keys, uint64_t count,
                                   yunti_remote_rows *rows, yunti_table_row *out, yunti_table_error *error);
/* Looks up many texts in few requests. */
int64_t yunti_remote_get_batch_bytes(const yunti_remote_table *table, const void *const *keys, const uint64_t *bytes,
                                     uint64_t count, yunti_remote_rows *rows, yunti_table_row *out,
                                     yunti_table_error *error);
/* Looks up all rows of a key, for yunti_remote_next. Returns their number. */
int64_t yunti_remote_get_all(const yunti_remote_table *table, const yunti_table_key *key, yunti_remote_rows *rows,
                             yunti_table_error *error);
/* Returns 1 and the next row of yunti_remote_get_all; 0 at the end. */
int yunti_remote_next(yunti_remote_rows *rows, yunti_table_row *row);

#ifdef __cplusplus
}
#endif
#endif
