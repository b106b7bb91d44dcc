package org.yunti.messages.trial.codec;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONReader;
import com.alibaba.fastjson2.JSONWriter;
import java.lang.reflect.Type;
import java.util.List;

/** fastjson2, without AutoType. */
public final class Fastjson2Codec implements Codec {
  private final JSONWriter.Feature[] features;
  private final String times;
  private Type type;

  public Fastjson2Codec(Shape shape) {
    features = shape.withNulls() ? new JSONWriter.Feature[] {JSONWriter.Feature.WriteNulls} : new JSONWriter.Feature[0];
    times = shape.withTimestamps() ? "millis" : "iso8601";
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    this.type = type;
  }

  @Override
  public byte[] write(Object message) {
    return JSON.toJSONBytes(message, times, features);
  }

  @Override
  public Object read(byte[] bytes) {
    return JSON.parseObject(bytes, type, new JSONReader.Feature[0]);
  }

  @Override
  public boolean isJson() {
    return true;
  }

  @Override
  public Class<?> library() {
    return JSON.class;
  }
}
