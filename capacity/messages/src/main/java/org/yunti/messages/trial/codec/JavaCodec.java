package org.yunti.messages.trial.codec;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

/** Java serialisation: a stream for each message. */
public final class JavaCodec implements Codec {
  @Override
  public byte[] write(Object message) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(message);
    }
    return bytes.toByteArray();
  }

  @Override
  public Object read(byte[] bytes) throws Exception {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }

  @Override
  public Class<?> library() {
    return Object.class;
  }
}
