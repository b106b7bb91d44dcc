package org.yunti.messages.trial;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.smile.SmileFactory;
import com.fasterxml.jackson.module.afterburner.AfterburnerModule;
import com.fasterxml.jackson.module.blackbird.BlackbirdModule;
import org.msgpack.jackson.dataformat.MessagePackFactory;
import org.yunti.messages.trial.codec.Codec;
import org.yunti.messages.trial.codec.JacksonCodec;
import org.yunti.messages.trial.codec.Shape;

/** Modules and formats of Jackson, which a trial of the service's own Jackson does not have on its class path. */
final class JacksonCodecs {
  private JacksonCodecs() {}

  static Codec of(String name, Shape shape) {
    return switch (name) {
      case "jackson-blackbird" -> new JacksonCodec(new ObjectMapper(), new BlackbirdModule(), shape, true);
      case "jackson-afterburner" -> new JacksonCodec(new ObjectMapper(), new AfterburnerModule(), shape, true);
      case "jackson-smile" -> new JacksonCodec(new ObjectMapper(new SmileFactory()), null, shape, false);
      case "jackson-cbor" -> new JacksonCodec(new ObjectMapper(new CBORFactory()), null, shape, false);
      case "jackson-msgpack" -> new JacksonCodec(new ObjectMapper(new MessagePackFactory()), null, shape, false);
      default -> throw new IllegalArgumentException("unknown codec " + name);
    };
  }
}
