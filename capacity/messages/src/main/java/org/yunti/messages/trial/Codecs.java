package org.yunti.messages.trial;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.yunti.messages.trial.codec.AvroCodec;
import org.yunti.messages.trial.codec.Codec;
import org.yunti.messages.trial.codec.Fastjson2Codec;
import org.yunti.messages.trial.codec.FastjsonCodec;
import org.yunti.messages.trial.codec.ForyCodec;
import org.yunti.messages.trial.codec.GsonCodec;
import org.yunti.messages.trial.codec.JacksonCodec;
import org.yunti.messages.trial.codec.JavaCodec;
import org.yunti.messages.trial.codec.KryoCodec;
import org.yunti.messages.trial.codec.ProtobufCodec;
import org.yunti.messages.trial.codec.Shape;
import org.yunti.messages.trial.derived.DerivedProtobuf;

/** Codecs by name. A library's classes are loaded when its codec is made. */
final class Codecs {
  private Codecs() {}

  static Codec of(String name, Shape shape) throws ReflectiveOperationException {
    return switch (name) {
      case "jackson" -> new JacksonCodec(new ObjectMapper(), null, shape, true);
      case "gson" -> new GsonCodec(shape);
      case "fastjson2" -> new Fastjson2Codec(shape);
      case "fastjson" -> new FastjsonCodec();
      case "kryo" -> new KryoCodec(false);
      case "kryo-registered" -> new KryoCodec(true);
      case "fory" -> new ForyCodec(false);
      case "fory-registered" -> new ForyCodec(true);
      case "java" -> new JavaCodec();
      case "avro" -> new AvroCodec();
      case "protobuf" -> new ProtobufCodec();
      case "protobuf-derived" -> new DerivedProtobuf();
      default -> JacksonCodecs.of(name, shape);
    };
  }

  /** Returns the version in a library's jar: of its manifest, or of its name. */
  static String version(Class<?> library) {
    if (library == Object.class) {
      return "JDK " + Runtime.version().feature();
    }
    Package it = library.getPackage();
    if (it.getImplementationVersion() != null) {
      return it.getImplementationVersion();
    }
    var source = library.getProtectionDomain().getCodeSource();
    String jar = source == null || source.getLocation() == null ? "" : source.getLocation().getPath();
    var match = java.util.regex.Pattern.compile("-(\\d[\\w.-]*)\\.jar").matcher(jar);
    return match.find() ? match.group(1) : "";
  }
}
