package org.yunti.web.oracle.model;

import java.io.Closeable;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.yunti.web.oracle.Journal;

/** Things to iterate over that tell when they are asked, closed, or fail. */
public final class Loops {
  private Loops() {}

  /** An iterator that must be closed, and is noted at each step. */
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

  /** The iterator itself: Velocity does not close what the template was given. */
  public static Source iterator(Object... elements) {
    return new Source(List.of(elements).iterator());
  }

  /** What it iterates by is the loop's own, and closed after it. */
  public static Iterable<Object> iterable(Object... elements) {
    return new Opening(List.of(elements));
  }

  /** Public, so that a template may call it. */
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
