package org.yunti.table.client;

import org.yunti.table.Cells;
import org.yunti.table.Row;
import org.yunti.table.Rows;
import org.yunti.table.client.wire.Response;
import org.yunti.table.format.Lengths;

/** All rows of one key, in a response that was read to its end. */
final class RemoteRows extends Rows {
  private final TableClient table;
  private final Response response;
  /** Begin and end of the row behind the last one that was taken. */
  private int begin;
  private int end;
  private final int last;

  RemoteRows(TableClient table, Found found) {
    this.table = table;
    response = found.responses[0];
    begin = found.begins[0];
    end = found.ends[0];
    last = response == null ? -1 : found.lasts[0];
  }

  @Override
  protected Row row() {
    return table.row();
  }

  @Override
  public boolean next(Cells row) {
    table.requireOwn(row);
    if (end > last) {
      return false;
    }
    table.moveTo(response, begin, end, row);
    if (end == last) {
      end = last + 1;
    } else {
      long bytes = Lengths.length(response, end, last);
      begin = end + Lengths.bytes(response.memory, end);
      end = begin + (int) bytes;
    }
    return true;
  }
}
