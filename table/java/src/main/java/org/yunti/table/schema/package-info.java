/** Columns of a table: their types, and where a row has their values. */
package org.yunti.table.schema;
