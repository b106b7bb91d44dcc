package org.yunti.messages.trial.codec;

import java.lang.reflect.Type;
import java.util.List;
import org.apache.fory.Fory;
import org.apache.fory.config.Language;

/** Apache Fory, in its format for Java. */
public final class ForyCodec implements Codec {
  private final Fory fory;
  private final boolean isRegistered;

  public ForyCodec(boolean isRegistered) {
    this.isRegistered = isRegistered;
    fory = Fory.builder().withLanguage(Language.JAVA).withRefTracking(true).requireClassRegistration(isRegistered)
        .withClassLoader(ForyCodec.class.getClassLoader()).build();
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    if (isRegistered) {
      for (Class<?> each : Classes.of(examples)) {
        if (!each.getName().startsWith("java.")) {
          fory.register(each);
        }
      }
    }
  }

  @Override
  public byte[] write(Object message) {
    return fory.serialize(message);
  }

  @Override
  public Object read(byte[] bytes) {
    return fory.deserialize(bytes);
  }

  @Override
  public Class<?> library() {
    return Fory.class;
  }
}
