/** Graphs of immutable objects in a table, read where they are: docs/formats/frozen-objects.md. */
package org.yunti.table.frozen;
