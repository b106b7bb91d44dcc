package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.lang.reflect.Type;
import java.util.List;
import org.yunti.messages.trial.codec.Codec;

/**
 * Protobuf's bytes, from a schema that is derived from the objects. It is an estimate of generated classes: those hold
 * their fields themselves, but the objects of the service would be copied into them and back.
 */
public final class DerivedProtobuf implements Codec {
  private final Coder.Sizes sizes = new Coder.Sizes();
  private Coder coder;

  @Override
  public void prepare(Type type, List<Object> examples) {
    coder = Schema.of(examples);
  }

  @Override
  public byte[] write(Object message) throws Exception {
    sizes.clear();
    byte[] bytes = new byte[coder.size(message, sizes)];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    coder.write(message, out, sizes);
    out.checkNoSpaceLeft();
    return bytes;
  }

  @Override
  public Object read(byte[] bytes) throws Exception {
    return coder.read(CodedInputStream.newInstance(bytes));
  }

  @Override
  public boolean isEstimate() {
    return true;
  }

  @Override
  public Class<?> library() {
    return CodedOutputStream.class;
  }
}
