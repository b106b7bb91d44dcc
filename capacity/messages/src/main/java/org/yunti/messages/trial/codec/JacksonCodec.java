package org.yunti.messages.trial.codec;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.lang.reflect.Type;
import java.util.List;

/** Jackson, alone or with a module, for JSON or another format. */
public final class JacksonCodec implements Codec {
  private static final ObjectMapper TREES = new ObjectMapper();

  private final ObjectMapper mapper;
  private final boolean isJson;
  private JavaType type;

  /** @param module a module that generates code; null for none */
  @SuppressWarnings("deprecation")
  public JacksonCodec(ObjectMapper mapper, Module module, Shape shape, boolean isJson) {
    this.mapper = mapper;
    this.isJson = isJson;
    // All modules of the class path but the ones that generate code, which are tried by themselves.
    for (Module each : ObjectMapper.findModules()) {
      if (!each.getModuleName().contains("Blackbird") && !each.getModuleName().contains("fterburner")) {
        mapper.registerModule(each);
      }
    }
    if (module != null) {
      mapper.registerModule(module);
    }
    mapper.configure(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, shape.withTimestamps());
    mapper.configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    // As Spring and JDK's own zones do.
    mapper.configure(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, false);
    if (!shape.withNulls()) {
      mapper.setSerializationInclusion(JsonInclude.Include.NON_NULL);
    }
  }

  @Override
  public void prepare(Type type, List<Object> examples) {
    this.type = mapper.getTypeFactory().constructType(type);
  }

  @Override
  public byte[] write(Object message) throws Exception {
    return mapper.writeValueAsBytes(message);
  }

  @Override
  public Object read(byte[] bytes) throws Exception {
    return mapper.readValue(bytes, type);
  }

  /** Returns the tree of JSON, for comparisons. */
  public static JsonNode tree(byte[] json) throws Exception {
    return TREES.readTree(json);
  }

  @Override
  public boolean isJson() {
    return isJson;
  }

  @Override
  public Class<?> library() {
    return mapper.getFactory().getClass() == com.fasterxml.jackson.core.JsonFactory.class ? ObjectMapper.class
        : mapper.getFactory().getClass();
  }
}
