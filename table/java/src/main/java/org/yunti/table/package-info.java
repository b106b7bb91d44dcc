/**
 * Shared tables: one file that every process maps, looked up without copies; or the same at servers.
 *
 * <pre>
 *   SharedTable   opens a file, finds rows by keys        Row, Elements   values of a row, of a list
 *   Key, Batch    keys of several columns, of many rows   Rows            walks and ranges
 *   TypedTable    rows as interfaces or records           Options         how a table is opened
 *   Table         lookups, in a file or at servers        client          the package of TableClient
 * </pre>
 */
package org.yunti.table;
