package org.yunti.web.oracle.model;

import java.io.Closeable;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.yunti.web.oracle.Journal;

/** Iterables and iterators that record calls and closing, or fail. */
public final class Loops {
  private Loops() {}

  /** Closeable iterator that records each step. */
  public static final class Source implements Iterator<Object>, Closeable {
    private final Iterator<?> elements;

    Source(Iterator<?> elements) {
      this.elements = elements;
    }

    @Override
    public boolean hasNext() {
      Journal.note("hasNext");
      return elements.hasNext();
    }

    @Override
    public Object next() {
      Journal.note("next");
      Object next = elements.next();
      if ("!".equals(next)) {
        throw new IllegalStateException("element fails");
      }
      return next;
    }

    @Override
    public void close() {
      Journal.note("close");
    }

    @Override
    public String toString() {
      return "source";
    }
  }

  /** Returns an iterator: Velocity does not close an iterator of the template. */
  public static Source iterator(Object... elements) {
    return new Source(List.of(elements).iterator());
  }

  /** Returns an iterable: its iterator belongs to the loop, which closes it. */
  public static Iterable<Object> iterable(Object... elements) {
    return new Opening(List.of(elements));
  }

  /** Iterable; public, so that a template may call it. */
  public static final class Opening implements Iterable<Object> {
    private final Collection<?> elements;

    Opening(Collection<?> elements) {
      this.elements = elements;
    }

    @Override
    public Iterator<Object> iterator() {
      Journal.note("open");
      return new Source(elements.iterator());
    }

    @Override
    public String toString() {
      return "opening";
    }
  }
}
