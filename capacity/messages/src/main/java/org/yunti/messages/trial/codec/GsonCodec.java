package org.yunti.messages.trial.codec;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Gson. */
public final class GsonCodec implements Codec {
  private final Gson gson;
  private Type type;

  public GsonCodec(Shape shape) {
    GsonBuilder builder = new GsonBuilder().disableHtmlEscaping();
    gson = (shape.withNulls() ? builder.serializeNulls() : builder).create();
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    this.type = type;
  }

  @Override
  public byte[] write(Object message) {
    return gson.toJson(message, type).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Object read(byte[] bytes) {
    return gson.fromJson(new String(bytes, StandardCharsets.UTF_8), type);
  }

  @Override
  public boolean isJson() {
    return true;
  }

  @Override
  public Class<?> library() {
    return Gson.class;
  }
}
