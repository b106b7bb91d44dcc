/* Test of <yunti/table.h> in C99: the table that `table_test --write` wrote, by all functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yunti/table.h>
#include <yunti/table/remote.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

static yunti_table_error error;

static int is(const char *text, uint64_t bytes, const char *expect) {
  return bytes == strlen(expect) && memcmp(text, expect, bytes) == 0;
}

static int count(yunti_table_walk *walk) {
  yunti_table_row row;
  int rows = 0, more;
  CHECK(walk != NULL);
  while ((more = yunti_table_next(walk, &row, &error)) == 1) ++rows;
  CHECK(more == 0 && row.fields == NULL && yunti_table_next(walk, &row, NULL) == 0);
  yunti_table_walk_free(walk);
  return rows;
}

static void values(const yunti_table_row *row) {
  yunti_table_list list;
  yunti_table_row record;
  const char *text;
  int64_t number;
  uint64_t large, bytes;
  double real;
  int yes;
  CHECK(yunti_table_row_text(row, 0, &text, &bytes, &error) == 1 && is(text, bytes, "shop 3"));
  CHECK(yunti_table_row_i64(row, 1, &number, &error) == 1 && number == 1);
  CHECK(yunti_table_row_bool(row, 2, &yes, &error) == 1 && yes == 0);
  CHECK(yunti_table_row_i64(row, 0, &number, &error) == -1 && strstr(error.text, "shop is utf8") != NULL);
  CHECK(yunti_table_row_u64(row, 1, &large, &error) == -1 && yunti_table_row_i64(row, 7, &number, NULL) == -1);
  CHECK(yunti_table_row_i64(row, -1, &number, &error) == -1 && yunti_table_row_f64(row, 1, &real, NULL) == 1);
  CHECK(yunti_table_row_list(row, 3, &list, &error) == 1 && list.size == 2);
  CHECK(yunti_table_list_text(&list, 0, &text, &bytes, &error) == 1 && is(text, bytes, "tag 36"));
  CHECK(yunti_table_list_text(&list, 1, &text, &bytes, &error) == 1 && bytes == 0);
  CHECK(yunti_table_list_text(&list, 2, &text, &bytes, &error) == -1 && strstr(error.text, "no element 2") != NULL);
  CHECK(yunti_table_row_list(row, 4, &list, &error) == 1);
  CHECK(yunti_table_list_u64(&list, 0, &large, &error) == 1 && large == (uint64_t)1 << 63);
  CHECK(yunti_table_list_i64(&list, 1, &number, &error) == -1 && yunti_table_list_f64(&list, 1, &real, NULL) == -1);
  CHECK(yunti_table_row_list(row, 5, &list, &error) == 1 && list.size == 2);
  CHECK(yunti_table_list_record(&list, 0, &record, &error) == 0 && record.fields == NULL);
  CHECK(yunti_table_list_record(&list, 1, &record, &error) == 1);
  CHECK(yunti_table_row_record(row, 6, &record, &error) == 1);
  CHECK(yunti_table_row_column(&record, "y") == 1 && yunti_table_row_column(&record, "z") == -1);
  CHECK(yunti_table_row_i64(&record, 0, &number, &error) == 1 && number == -7);
  CHECK(yunti_table_row_f64(&record, 1, &real, &error) == 1 && real == 0.5);
}

int main(int arguments, char **argument) {
  yunti_table *table;
  yunti_table_key *key, *to;
  yunti_table_row row, rows[2];
  yunti_table_list list;
  const void *texts[2] = {"a", "b"};
  const uint64_t lengths[2] = {1, 1};
  const int64_t numbers[2] = {1, 2};
  CHECK(arguments == 2);
  CHECK(yunti_table_open("/nowhere.ytab", 0, &error) == NULL && strstr(error.text, "cannot open the table") != NULL);
  CHECK(yunti_table_open("/nowhere.ytab", 0, NULL) == NULL);
  table = yunti_table_open(argument[1], YUNTI_TABLE_POPULATE | YUNTI_TABLE_HUGE_PAGES | YUNTI_TABLE_INTERLEAVE, &error);
  CHECK(table != NULL && error.text[0] == '\0');
  CHECK(yunti_table_verify(table, &error) == 0);
  CHECK(yunti_table_size(table) == 50 && yunti_table_row_count(table) == 100);
  CHECK(yunti_table_column_count(table) == 7 && yunti_table_column(table, "visits") == 4);
  CHECK(yunti_table_column(table, "none") == -1 && yunti_table_column_name(table, 7) == NULL);
  CHECK(strcmp(yunti_table_column_name(table, 6), "place") == 0);
  CHECK(strcmp(yunti_table_column_type(table, 6), "record") == 0);

  key = yunti_table_key_new();
  CHECK(yunti_table_key_add_bytes(key, "shop 3", 6, &error) == 0);
  CHECK(count(yunti_table_prefix(table, key, &error)) == 10 && count(yunti_table_range(table, key, NULL, NULL)) == 70);
  CHECK(yunti_table_get_key(table, key, &row, &error) == -1 && strstr(error.text, "shop (utf8), day (i32)") != NULL);
  CHECK(yunti_table_key_add_i64(key, 1, &error) == 0);
  CHECK(yunti_table_get_key(table, key, &row, &error) == 1);
  values(&row);
  CHECK(count(yunti_table_rows_of(table, key, &error)) == 2 && count(yunti_table_rows(table, &error)) == 100);
  to = yunti_table_key_new();
  CHECK(yunti_table_key_add_bytes(to, "shop 4", 6, &error) == 0);
  CHECK(count(yunti_table_range(table, key, to, &error)) == 4 && count(yunti_table_range(table, NULL, to, NULL)) == 40);
  yunti_table_key_clear(key);
  CHECK(yunti_table_key_add_bytes(key, "shop 3", 6, NULL) == 0 && yunti_table_key_add_u64(key, 9, NULL) == 0);
  CHECK(yunti_table_get_key(table, key, &row, &error) == 0 && row.fields == NULL);
  CHECK(yunti_table_row_list(&row, 3, &list, &error) == -1 && yunti_table_row_column(&row, "x") == -1);
  yunti_table_key_free(key);
  yunti_table_key_free(to);

  CHECK(yunti_table_get_i64(table, 1, &row, &error) == -1 && yunti_table_get_u64(table, 1, &row, NULL) == -1);
  CHECK(yunti_table_get_bytes(table, "a", 1, &row, &error) == -1);
  CHECK(yunti_table_get_batch_bytes(table, texts, lengths, 2, rows, &error) == -1);
  CHECK(yunti_table_get_batch_i64(table, numbers, 2, rows, &error) == -1);
  CHECK(yunti_table_reopen(table, &error) == NULL && error.text[0] == '\0');
  yunti_table_close(table);
  CHECK(yunti_remote_open("users", "nowhere", NULL, &error) == NULL && strstr(error.text, "is no address") != NULL);

  if (strcmp(argument[1], "c.ytab") == 0) remove("c.ytab");
  puts("table/c_test: ok");
  return 0;
}
