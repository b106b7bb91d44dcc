package org.yunti.hadoop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** Documents as Jackson reads them. */
class JsonWriterTest {
  @Test
  void nestsObjectsAndArrays() throws IOException {
    StringWriter text = new StringWriter();
    try (JsonWriter out = new JsonWriter(text)) {
      out.beginObject();
      out.field("n", -5L);
      out.field("none", null);
      out.beginArray("empty");
      out.end();
      out.beginArray("all");
      for (int i = 0; i < 2; i++) {
        out.beginObject();
        out.field("i", i);
        out.end();
      }
      out.end();
      out.beginObject("last");
      out.end();
      out.end();
    }
    assertEquals("{\"n\":-5,\"none\":null,\"empty\":[],\"all\":[{\"i\":0},{\"i\":1}],\"last\":{}}", text.toString());
  }

  @Test
  void escapesWhatJsonReserves() throws IOException {
    StringBuilder all = new StringBuilder("Wörter 云梯 \ud83d\ude00 \u2028 \u007f");
    for (char c = 0; c < 128; c++) {
      all.append(c);
    }
    StringWriter text = new StringWriter();
    try (JsonWriter out = new JsonWriter(text)) {
      out.beginObject();
      out.field(all.toString(), all.toString());
      out.end();
    }
    JsonNode read = new ObjectMapper().readTree(text.toString());
    assertEquals(all.toString(), read.get(all.toString()).asText());
  }
}
