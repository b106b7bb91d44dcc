package org.yunti.web.tool;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.yunti.web.shrink.TemplateFolder;
import org.yunti.web.shrink.json.JsonException;
import org.yunti.web.shrink.json.JsonReader;
import org.yunti.web.shrink.vtl.ShrinkException;

/** Reader of page models from JSON files: the members of one object become the context. */
final class Models {
  private Models() {}

  static Map<String, Object> read(String file) throws UsageException, IOException, ShrinkException {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path)) {
      throw new UsageException("model file " + file + " does not exist");
    }
    Object value;
    try {
      value = JsonReader.read(TemplateFolder.read(path, StandardCharsets.UTF_8));
    } catch (JsonException e) {
      throw new UsageException("the model " + file + " is not JSON: " + e.getMessage());
    }
    if (!(value instanceof Map<?, ?> map)) {
      throw new UsageException("the model " + file + " must be an object, {\"name\": value, ..}");
    }
    Map<String, Object> model = new LinkedHashMap<>();
    map.forEach((key, member) -> model.put((String) key, member));
    return model;
  }
}
