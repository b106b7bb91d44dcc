package org.yunti.messages.trial.codec;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.lang.reflect.Type;
import java.util.List;

/** Messages that are protobuf's already, by their own code. */
public final class ProtobufCodec implements Codec {
  private Parser<?> parser;

  @Override
  public void prepare(Type type, List<Object> examples) {
    parser = ((MessageLite) examples.get(0)).getParserForType();
  }

  @Override
  public byte[] write(Object message) {
    return ((MessageLite) message).toByteArray();
  }

  @Override
  public Object read(byte[] bytes) throws Exception {
    return parser.parseFrom(bytes);
  }

  @Override
  public Class<?> library() {
    return MessageLite.class;
  }
}
