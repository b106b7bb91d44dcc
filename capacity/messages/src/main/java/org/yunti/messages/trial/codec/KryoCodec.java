package org.yunti.messages.trial.codec;

import com.esotericsoftware.kryo.kryo5.Kryo;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import com.esotericsoftware.kryo.kryo5.objenesis.strategy.StdInstantiatorStrategy;
import com.esotericsoftware.kryo.kryo5.util.DefaultInstantiatorStrategy;
import java.lang.reflect.Type;
import java.util.List;

/** Kryo 5, one object for all messages of a thread, with references. */
public final class KryoCodec implements Codec {
  private final Kryo kryo = new Kryo();
  private final Output output = new Output(4096, -1);
  private final Input input = new Input();
  private final boolean isRegistered;

  public KryoCodec(boolean isRegistered) {
    this.isRegistered = isRegistered;
    kryo.setReferences(true);
    kryo.setRegistrationRequired(isRegistered);
    kryo.setInstantiatorStrategy(new DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    if (isRegistered) {
      Classes.of(examples).forEach(kryo::register);
    }
  }

  @Override
  public byte[] write(Object message) {
    output.reset();
    kryo.writeClassAndObject(output, message);
    return output.toBytes();
  }

  @Override
  public Object read(byte[] bytes) {
    input.setBuffer(bytes);
    return kryo.readClassAndObject(input);
  }

  @Override
  public Class<?> library() {
    return Kryo.class;
  }
}
