package org.yunti.table;

import org.yunti.table.format.Source;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;

/** The base of classes that implement an interface by a row's bytes. They are made at run time. */
public abstract class View extends Cells {
  private final Context context;

  /** Takes what {@link #context} returned; generated classes know no more of it. */
  protected View(Object context) {
    super(((Context) context).layout);
    this.context = (Context) context;
  }

  protected final Object context(Source unused) {
    return context;
  }

  /** Returns what a getter returns that is neither a number nor a text. */
  @Override
  protected final Object objectAt(int getter) {
    return context.getters[getter].of(this);
  }

  /** All that is equal for the rows of a view. */
  static final class Context {
    final Layout layout;
    final ColumnGetter[] getters;

    Context(Layout layout, ColumnGetter[] getters) {
      this.layout = layout;
      this.getters = getters;
    }
  }

  /** A getter with its column. */
  static final class ColumnGetter {
    final Column column;
    final Getter getter;
    final Object missing;

    ColumnGetter(Column column, Getter getter, Object missing) {
      this.column = column;
      this.getter = getter;
      this.missing = missing;
    }

    Object of(Cells row) {
      return row.isMissing(column) ? missing
          : getter.read(row.source, row.valueBegin(column), row.valueEnd(column));
    }
  }
}
