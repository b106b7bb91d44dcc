package org.yunti.messages.capture;

import java.util.List;

/** The methods whose arguments and results are captured: what programs call to write or read a whole message. */
final class Targets {
  /**
   * Methods of one class.
   *
   * @param library name of the library
   * @param type name of the class
   * @param methods names of methods, all of their variants
   * @param isWrite true if the object is an argument, or {@code this} if no argument is an Object; else it is returned
   */
  record Target(String library, String type, List<String> methods, boolean isWrite) {}

  static final List<Target> ALL = List.of(
      write("jackson", "com.fasterxml.jackson.databind.ObjectMapper", "writeValue", "writeValueAsBytes",
          "writeValueAsString"),
      write("jackson", "com.fasterxml.jackson.databind.ObjectWriter", "writeValue", "writeValueAsBytes",
          "writeValueAsString"),
      read("jackson", "com.fasterxml.jackson.databind.ObjectMapper", "readValue"),
      read("jackson", "com.fasterxml.jackson.databind.ObjectReader", "readValue"),
      write("gson", "com.google.gson.Gson", "toJson"),
      read("gson", "com.google.gson.Gson", "fromJson"),
      write("fastjson2", "com.alibaba.fastjson2.JSON", "toJSONString", "toJSONBytes", "writeTo"),
      read("fastjson2", "com.alibaba.fastjson2.JSON", "parseObject"),
      write("fastjson", "com.alibaba.fastjson.JSON", "toJSONString", "toJSONBytes", "writeJSONString"),
      read("fastjson", "com.alibaba.fastjson.JSON", "parseObject"),
      write("protobuf", "com.google.protobuf.AbstractMessageLite", "toByteArray", "toByteString", "writeTo"),
      read("protobuf", "com.google.protobuf.AbstractParser", "parseFrom", "parseDelimitedFrom"),
      write("java", "java.io.ObjectOutputStream", "writeObject"),
      read("java", "java.io.ObjectInputStream", "readObject"));

  /** Prefixes of classes that read and write messages. A call below one of them is not the outermost. */
  private static final String[] SERIALISERS = {
      "com.fasterxml.jackson.", "com.google.gson.", "com.alibaba.fastjson", "com.google.protobuf.",
      "java.io.ObjectOutputStream", "java.io.ObjectInputStream", "com.esotericsoftware.kryo.", "org.apache.fory.",
      "com.caucho.hessian.", "org.apache.avro.", "org.msgpack."};

  private Targets() {}

  private static Target write(String library, String type, String... methods) {
    return new Target(library, type, List.of(methods), true);
  }

  private static Target read(String library, String type, String... methods) {
    return new Target(library, type, List.of(methods), false);
  }

  /** Returns the number of a method's target; -1 for another method. */
  static int of(String type, String method) {
    for (int i = 0; i < ALL.size(); i++) {
      if (ALL.get(i).type.equals(type) && ALL.get(i).methods.contains(method)) {
        return i;
      }
    }
    return -1;
  }

  static boolean isTarget(String type) {
    return ALL.stream().anyMatch(target -> target.type.equals(type));
  }

  static boolean isSerialiser(String type) {
    for (String prefix : SERIALISERS) {
      if (type.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }
}
