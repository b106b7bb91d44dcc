package org.yunti.messages.trial.codec;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** fastjson 1 of the service, by reflection: it is compared with, and no alternative. */
public final class FastjsonCodec implements Codec {
  private final Class<?> json;
  private final Method write;
  private final Method read;
  private final Object writeFeatures;
  private final Object readFeatures;
  private Type type;

  public FastjsonCodec() throws ReflectiveOperationException {
    json = Class.forName("com.alibaba.fastjson.JSON");
    Class<?> writeFeature = Class.forName("com.alibaba.fastjson.serializer.SerializerFeature");
    Class<?> readFeature = Class.forName("com.alibaba.fastjson.parser.Feature");
    writeFeatures = Array.newInstance(writeFeature, 0);
    readFeatures = Array.newInstance(readFeature, 0);
    write = json.getMethod("toJSONString", Object.class, writeFeatures.getClass());
    read = json.getMethod("parseObject", String.class, Type.class, readFeatures.getClass());
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    this.type = type;
  }

  @Override
  public byte[] write(Object message) throws ReflectiveOperationException {
    return ((String) write.invoke(null, message, writeFeatures)).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Object read(byte[] bytes) throws ReflectiveOperationException {
    return read.invoke(null, new String(bytes, StandardCharsets.UTF_8), type, readFeatures);
  }

  @Override
  public boolean isJson() {
    return true;
  }

  @Override
  public Class<?> library() {
    return json;
  }
}
