package org.yunti.messages.trial;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.yunti.messages.trial.codec.Codec;
import org.yunti.messages.trial.codec.JacksonCodec;
import org.yunti.messages.trial.codec.Shape;

/**
 * Standard for a group: a correct library does with its messages what the library of the service does.
 *
 * <p>A message of JSON arrives without what its class does not write. So the messages to compare are the ones that
 * arrive, if they are written as the same bytes again.
 */
final class Check {
  /** A library that fails, or answers wrongly. */
  static final class Refusal extends Exception {
    Refusal(String message) {
      super(message, null, false, false);
    }
  }

  private static final List<Shape> SHAPES =
      List.of(new Shape(true, false), new Shape(true, true), new Shape(false, false), new Shape(false, true));

  final List<Object> messages = new ArrayList<>();
  final Shape shape;
  final Type type;
  final boolean isJson;
  /** Reason why the service's library cannot read its own messages; null if it can. */
  String unreadable;
  private final List<byte[]> written = new ArrayList<>();

  /** @throws Refusal if the library of the service fails on its own messages */
  Check(Messages.Group group) throws Refusal {
    type = MessageType.of(group.objects.get(0));
    shape = shape(group);
    try {
      Codec codec = Codecs.of(group.library, shape);
      codec.prepare(type, group.objects);
      isJson = codec.isJson();
      for (Object it : group.objects) {
        byte[] bytes = codec.write(it);
        written.add(bytes);
        messages.add(unreadable == null ? arrived(codec, it, bytes) : it);
      }
    } catch (Exception | LinkageError | StackOverflowError e) {
      throw new Refusal(group.library + " itself fails on the messages made again: " + Trial.reason(e));
    }
  }

  private Object arrived(Codec codec, Object it, byte[] bytes) {
    try {
      Object back = codec.read(bytes);
      if (Equality.difference(it, back) == null) {
        return it;
      }
      if (Arrays.equals(codec.write(back), bytes)) {
        return back;
      }
      unreadable = "what it reads is not what it wrote: " + Equality.difference(it, back);
    } catch (Exception | LinkageError | StackOverflowError e) {
      unreadable = Trial.reason(e);
    }
    return it;
  }

  /** Returns the settings with which the library writes as many bytes as in the service. */
  private static Shape shape(Messages.Group group) {
    Shape best = SHAPES.get(0);
    double least = Double.POSITIVE_INFINITY;
    for (Shape shape : SHAPES) {
      double difference = 0;
      try {
        Codec codec = Codecs.of(group.library, shape);
        codec.prepare(MessageType.of(group.objects.get(0)), group.objects);
        for (int i = 0; i < group.objects.size(); i++) {
          if (group.bytes.get(i) >= 0) {
            difference += Math.abs(codec.write(group.objects.get(i)).length - group.bytes.get(i));
          }
        }
      } catch (Exception | LinkageError | StackOverflowError e) {
        continue;
      }
      if (difference < least) {
        least = difference;
        best = shape;
      }
    }
    return best;
  }

  /** Returns the mean bytes of a message by the service's library. */
  double meanBytes() {
    return written.stream().mapToInt(bytes -> bytes.length).average().orElse(0);
  }

  /**
   * Writes and reads each message.
   *
   * @return the bytes of each message
   * @throws Refusal if the library fails, or answers wrongly
   */
  List<byte[]> tryOut(Codec codec) throws Refusal {
    List<byte[]> all = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      Object message = messages.get(i);
      byte[] bytes;
      Object back;
      String doing = "cannot write: ";
      try {
        bytes = codec.write(message);
        doing = "cannot read: ";
        back = isRead(codec) ? codec.read(bytes) : null;
        if (codec.isJson() && isJson) {
          String difference = difference(JacksonCodec.tree(written.get(i)), JacksonCodec.tree(bytes), "");
          if (difference != null) {
            throw new Refusal("writes other JSON: " + difference);
          }
        }
      } catch (Refusal e) {
        throw e;
      } catch (Exception | LinkageError | StackOverflowError e) {
        throw new Refusal(doing + Trial.reason(e));
      }
      String difference = isRead(codec) ? Equality.difference(message, back) : null;
      if (difference != null) {
        throw new Refusal("reads another message: " + difference);
      }
      all.add(bytes);
    }
    return all;
  }

  /** Returns true if the library must read the messages: JSON that nobody can read back is only written. */
  boolean isRead(Codec codec) {
    return unreadable == null || !(codec.isJson() && isJson);
  }

  /** Returns the first difference of two trees. Its methods are the ones that old versions of the service have. */
  @SuppressWarnings("deprecation")
  private static String difference(JsonNode expected, JsonNode actual, String place) {
    if (expected.isObject() && actual.isObject()) {
      for (Iterator<Map.Entry<String, JsonNode>> it = expected.fields(); it.hasNext(); ) {
        Map.Entry<String, JsonNode> field = it.next();
        JsonNode other = actual.get(field.getKey());
        String difference = other == null ? place + "/" + field.getKey() + " is missing"
            : difference(field.getValue(), other, place + "/" + field.getKey());
        if (difference != null) {
          return difference;
        }
      }
      for (Iterator<String> it = actual.fieldNames(); it.hasNext(); ) {
        String name = it.next();
        if (!expected.has(name)) {
          return place + "/" + name + " is too many";
        }
      }
      return null;
    }
    if (expected.isArray() && actual.isArray() && expected.size() == actual.size()) {
      for (int i = 0; i < expected.size(); i++) {
        String difference = difference(expected.get(i), actual.get(i), place + "/" + i);
        if (difference != null) {
          return difference;
        }
      }
      return null;
    }
    boolean isSame = expected.equals(actual) || expected.isNumber() && actual.isNumber()
        && expected.decimalValue().compareTo(actual.decimalValue()) == 0;
    return isSame ? null : place + " is " + cut(actual) + " instead of " + cut(expected);
  }

  private static String cut(JsonNode node) {
    String text = node.toString();
    return text.length() > 40 ? text.substring(0, 40) + ".." : text;
  }
}
