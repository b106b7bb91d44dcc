package org.yunti.messages.trial.codec;

import java.lang.reflect.Type;
import java.util.List;

/** A library that turns objects into bytes and back. One object is used for one group of messages. */
public interface Codec {
  /** Prepares for messages of a type, of which these are examples. */
  default void prepare(Type type, List<Object> examples) throws Exception {}

  byte[] write(Object message) throws Exception;

  Object read(byte[] bytes) throws Exception;

  /** Returns true if the bytes are JSON. */
  default boolean isJson() {
    return false;
  }

  /** Returns true if the library itself would do this otherwise, so that its cost is an estimate. */
  default boolean isEstimate() {
    return false;
  }

  /** Returns a class of the library, whose jar has its version. */
  Class<?> library();
}
