package org.yunti.web.oracle.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.velocity.context.Context;

/**
 * Context of most cases, in three kinds with the same keys. Kind 0 has beans. Kind 1 has beans and containers of other
 * classes. Kind 2 has maps for beans, arrays for lists, and other types of numbers. A case renders with 0, 1, 2, 0.
 */
public final class Model {
  public static final int KINDS = 3;

  private Model() {}

  public static Context context(int kind) {
    return context(kind, false);
  }

  public static Context context(int kind, boolean recordsReads) {
    Context context = new WatchedContext(recordsReads);
    beans(context, kind);
    texts(context, kind);
    numbers(context, kind);
    containers(context, kind);
    oddities(context);
    return context;
  }

  private static void beans(Context context, int kind) {
    context.put("p", kind == 2 ? mapOfPerson() : person(kind, "Ann"));
    context.put("q", person(kind, "Bob"));
    context.put("robot", new Robot("C3"));
    context.put("shape", Shape.hidden("circle"));
    context.put("color", kind == 0 ? Color.RED : Color.GREEN);
    context.put("Person", Person.class);
    context.put("Math", Math.class);
    context.put("Integer", Integer.class);
    context.put("optional", kind == 1 ? Optional.empty() : Optional.of("present"));
    context.put("maybe", kind == 0 ? null : person(kind, "Maybe"));
    context.put("none", null);
  }

  private static Person person(int kind, String name) {
    Person person = kind == 1 ? new Robot(name) : new Person(name);
    person.setFriend(kind == 1 ? new Person("friend of " + name) : new Robot("friend of " + name));
    return person;
  }

  private static Map<String, Object> mapOfPerson() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", "Map");
    map.put("age", 17L);
    map.put("adult", false);
    map.put("any", null);
    map.put("friend", new LinkedHashMap<>(Map.of("name", "Inner")));
    map.put("field", "map's field");
    return map;
  }

  private static void texts(Context context, int kind) {
    context.put("s", kind == 2 ? new StringBuilder("built") : "text");
    context.put("empty", "");
    context.put("blank", " ");
    context.put("html", "<a href=\"x\">&amp;'</a>");
    context.put("uni", "\u00e9\u4e2d\ud83d\ude00\u0000");
    context.put("high", "\ud83d");
    context.put("low", "\ude00");
    context.put("vtl", "$s #if(true)yes#end");
    context.put("file", "part.vm");
    context.put("digits", "12");
    context.put("c", 'c');
  }

  private static void numbers(Context context, int kind) {
    context.put("yes", true);
    context.put("no", false);
    context.put("zero", kind == 0 ? (Object) 0 : kind == 1 ? 0.0 : 0L);
    context.put("i", kind == 2 ? (Object) 5L : 5);
    context.put("n", kind == 0 ? (Object) 3 : kind == 1 ? 2.5 : new BigDecimal("1.50"));
    context.put("int", 5);
    context.put("neg", -3);
    context.put("long", 6L);
    context.put("short", (short) 7);
    context.put("byte", (byte) 8);
    context.put("float", 1.5f);
    context.put("double", 2.25);
    context.put("imax", Integer.MAX_VALUE);
    context.put("imin", Integer.MIN_VALUE);
    context.put("lmax", Long.MAX_VALUE);
    context.put("lmin", Long.MIN_VALUE);
    context.put("smax", Short.MAX_VALUE);
    context.put("bmax", Byte.MAX_VALUE);
    context.put("bigint", new BigInteger("123456789012345678901234567890"));
    context.put("bigdec", new BigDecimal("3.14159265358979323846"));
    context.put("nan", Double.NaN);
    context.put("inf", Double.POSITIVE_INFINITY);
    context.put("atomic", new AtomicInteger(4));
    context.put("date", new Date(0) {
      private static final long serialVersionUID = 1;

      @Override
      public String toString() {
        return "the epoch";
      }
    });
  }

  private static void containers(Context context, int kind) {
    List<Object> letters = Arrays.asList("a", "b", "c");
    context.put("list", kind == 0 ? new ArrayList<>(letters) : kind == 1 ? new LinkedList<>(letters)
        : letters.toArray());
    context.put("nums", kind == 2 ? new int[] {1, 2, 3} : new ArrayList<>(List.of(1, 2, 3)));
    context.put("strings", new String[] {"x", "y"});
    context.put("longs", new long[] {1, 2});
    context.put("grid", new int[][] {{1, 2}, {3, 4}});
    context.put("none1", new ArrayList<>(Arrays.asList("a", null, "c")));
    context.put("emptylist", kind == 2 ? new Object[0] : new ArrayList<>());
    context.put("people", new ArrayList<>(Arrays.asList(person(0, "One"), person(1, "Two"), mapOfPerson())));
    Map<Object, Object> map = new LinkedHashMap<>();
    map.put("key", "value");
    map.put("two words", "spaced");
    map.put(1, "one");
    map.put("nil", null);
    map.put("class", "classy");
    map.put("size", "sizable");
    map.put("empty", "void");
    context.put("map", map);
    context.put("emptymap", new LinkedHashMap<>());
    context.put("set", new LinkedHashSet<>(letters));
    context.put("vector", new Vector<>(letters));
    context.put("iterator", letters.iterator());
    context.put("enumeration", Collections.enumeration(letters));
    context.put("fixed", List.of("a", "b"));
    context.put("source", Loops.iterator("a", "b", "c"));
    context.put("opening", Loops.iterable("a", "b", "c"));
    context.put("failing", Loops.iterable("a", "!", "c"));
  }

  private static void oddities(Context context) {
    context.put("t", new Duck.Text("T"));
    context.put("asString", new Duck.AsString());
    context.put("asNumber", new Duck.AsNumber(11));
    context.put("asTrue", new Duck.AsBoolean(true));
    context.put("asFalse", new Duck.AsBoolean(false));
    context.put("isEmpty", new Duck.Empty());
    context.put("sized", new Duck.Sized(3));
    context.put("unsized", new Duck.Sized(0));
    context.put("lengthy", new Duck.LongSized());
    context.put("loop", new Duck.Loop());
    context.put("nullText", new Duck.NullText());
    context.put("badText", new Duck.BadText());
    context.put("rendered", new Rendered(true));
    context.put("notRendered", new Rendered(false));
    context.put("a-b", "hyphen");
  }
}
