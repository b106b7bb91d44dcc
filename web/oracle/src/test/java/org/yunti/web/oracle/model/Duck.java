package org.yunti.web.oracle.model;

import java.util.Iterator;
import java.util.List;
import org.yunti.web.oracle.Journal;

/** Objects that Velocity converts by their methods. */
public final class Duck {
  private Duck() {}

  /** Text that records each call. */
  public static final class Text {
    private final String text;

    public Text(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      Journal.note("toString of " + text);
      return text;
    }
  }

  public static final class AsString {
    public String getAsString() {
      Journal.note("getAsString");
      return "as string";
    }

    @Override
    public String toString() {
      return "not as string";
    }
  }

  public static final class AsNumber {
    private final Number number;

    public AsNumber(Number number) {
      this.number = number;
    }

    public Number getAsNumber() {
      Journal.note("getAsNumber");
      return number;
    }

    @Override
    public String toString() {
      return "number " + number;
    }
  }

  public static final class AsBoolean {
    private final boolean value;

    public AsBoolean(boolean value) {
      this.value = value;
    }

    public boolean getAsBoolean() {
      Journal.note("getAsBoolean");
      return value;
    }

    @Override
    public String toString() {
      return "boolean " + value;
    }
  }

  /** Value that is empty by its method, in several spellings. */
  public static final class Empty {
    public boolean isEmpty() {
      Journal.note("isEmpty");
      return true;
    }

    @Override
    public String toString() {
      return "empty";
    }
  }

  public static final class Sized {
    private final int size;

    public Sized(int size) {
      this.size = size;
    }

    public int size() {
      Journal.note("size");
      return size;
    }

    public Object get(int index) {
      Journal.note("get " + index);
      return "at " + index;
    }

    @Override
    public String toString() {
      return "sized";
    }
  }

  public static final class LongSized {
    public int length() {
      Journal.note("length");
      return 0;
    }

    @Override
    public String toString() {
      return "lengthy";
    }
  }

  /** Value with an iterator() that is not Iterable. */
  public static final class Loop {
    public Iterator<String> iterator() {
      Journal.note("iterator");
      return List.of("x", "y").iterator();
    }

    @Override
    public String toString() {
      return "loop";
    }
  }

  public static final class NullText {
    @Override
    public String toString() {
      Journal.note("toString null");
      return null;
    }
  }

  public static final class BadText {
    @Override
    public String toString() {
      throw new IllegalStateException("no text");
    }
  }
}
