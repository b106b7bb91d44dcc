package org.yunti.table;

import org.yunti.table.format.TableFile;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;
import org.yunti.table.schema.Type;

/** Checks a whole table: what lookups check at first use, and what they rely on. */
final class Verification {
  private final SharedTable table;
  private final TableFile file;
  private final Key key;

  private Verification(SharedTable table) {
    this.table = table;
    file = table.file();
    key = table.key();
  }

  static void run(SharedTable table, Order order) {
    Verification of = new Verification(table);
    of.file.blocks.checkAll();
    for (Column column : of.file.schema.columns()) {
      if (column.type() == Type.DICT) {
        of.file.dictionary(column).checkAll();
      }
    }
    of.checkSlots();
    if (order != null) {
      of.checkOrder(order);
    }
  }

  private void checkSlots() {
    Slots slots = table.slots();
    Row row = table.row();
    long keys = 0;
    long rows = 0;
    for (long slot = 0; slot < file.header.allSlots(); slot++) {
      if (!slots.isUsed(slot) || !slots.move(slot, row)) {
        continue;
      }
      keys++;
      checkRow(row);
      require(slots.slot(key.clear().addOf(row).hash(table.start())) == slot,
          "the key of the slot " + slot + " has another slot");
      rows++;
      while (row.end < row.slotEnd) {
        slots.moveTo(row.end, row);
        checkRow(row);
        require(key.isOf(row), "the rows of the slot " + slot + " have several keys");
        rows++;
      }
    }
    require(keys == file.header.keys, "it has " + keys + " keys, and its header says " + file.header.keys);
    require(rows == file.header.rows, "it has " + rows + " rows, and its header says " + file.header.rows);
  }

  private void checkRow(Cells row) {
    Layout layout = row.layout;
    for (int i = 0; i < layout.size(); i++) {
      Column column = layout.column(i);
      long begin = row.valueBegin(column);
      if (!row.isMissing(column)) {
        checkValue(column, begin, row.valueEnd(column));
      }
    }
  }

  private void checkValue(Column column, long begin, long end) {
    switch (column.type()) {
      case BOOL:
        require((file.memory.getByte(begin) & ~1) == 0, "a bool at " + begin + " is neither 0 nor 1");
        break;
      case DICT:
        file.dictionary(column).end(file.memory.getInt(begin));
        break;
      case RECORD:
        checkRow(Values.record(file, column, begin, end));
        break;
      case LIST:
        Elements list = Values.list(file, column, begin, end);
        for (int i = 0; i < list.size(); i++) {
          if (!list.isNull(i)) {
            checkValue(list.element(), list.valueBegin(i), list.valueEnd(i));
          }
        }
        break;
      default:
    }
  }

  private void checkOrder(Order order) {
    Row row = table.row();
    for (long i = 0; i < table.size(); i++) {
      order.move(i, row);
      require(i == 0 || key.compareTo(row, false) < 0, "the key " + i + " of its order is before the one before");
      key.clear().addOf(row);
      require(i % 64 != 0 || order.fence(i / 64) == key.begin(), "the begin of the key " + i + " is wrong");
    }
  }

  private void require(boolean is, String what) {
    if (!is) {
      throw file.damaged(what);
    }
  }
}
