package org.yunti.table.client;

import java.io.IOException;
import java.net.ProtocolException;

import org.yunti.table.client.wire.Response;

/** Where the rows of keys are: the response, and the place in it, of each key of a lookup. */
final class Found {
  /** Response with the rows of a key; null: it has none. */
  final Response[] responses;
  /** Begin and end of a key's first row. */
  final int[] begins;
  final int[] ends;
  /** End of a key's last row. */
  final int[] lasts;
  /** Bytes of the shortest row. */
  private final int rowBytesMin;

  Found(int keys, int rowBytesMin) {
    responses = new Response[keys];
    begins = new int[keys];
    ends = new int[keys];
    lasts = new int[keys];
    this.rowBytesMin = rowBytesMin;
  }

  /** Reads a response, to its end. */
  void read(KeyRequest request, Response response) throws IOException {
    for (int i = 0; i < request.count(); i++) {
      long rows = response.readLength();
      if (rows > 1 && !request.isAll) {
        throw new ProtocolException("its response has " + rows + " rows for a key instead of the first");
      }
      int number = request.number(i);
      responses[number] = rows == 0 ? null : response;
      for (long row = 0; row < rows; row++) {
        long bytes = response.readLength();
        if (bytes < rowBytesMin) {
          throw new ProtocolException("its response has a row of " + bytes + " bytes; the columns need " + rowBytesMin);
        }
        int begin = response.skip(bytes);
        if (row == 0) {
          begins[number] = begin;
          ends[number] = response.at();
        }
        lasts[number] = response.at();
      }
    }
    response.requireEnd();
  }
}
