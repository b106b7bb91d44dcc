package org.yunti.web.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ShopTest {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static Shop shop;

  @BeforeAll
  static void start() throws IOException {
    shop = new Shop(0);
  }

  @AfterAll
  static void stop() {
    shop.close();
  }

  private static HttpResponse<byte[]> get(String path, String cookie) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + shop.port()
        + path)).timeout(Duration.ofSeconds(60));
    return CLIENT.send((cookie == null ? request : request.header("Cookie", cookie)).build(),
        BodyHandlers.ofByteArray());
  }

  @Test
  void rendersTheSameBytesStockAndCompiled() throws Exception {
    for (String query : new String[] {"", "?q=%E9%BE%99%E4%BA%95", "?q=oolong&page=2",
        "?category=%E7%BB%BF%E8%8C%B6%20Green%20tea", "?q=nothing",
        "?q=%3Cscript%3E%26&page=99", "?q=&page=-1",
        "?page=17"}) {
      byte[] stock = get("/stock" + query, "cart=1.2.700").body();
      assertArrayEquals(stock, get("/compiled" + query, "cart=1.2.700").body(), query);
      assertTrue(new String(stock, StandardCharsets.UTF_8).endsWith("</html>\n"), query);
    }
  }

  @Test
  void escapesTheSearchWords() throws Exception {
    String page = new String(get("/compiled?q=%3Cb%3E", null).body(), StandardCharsets.UTF_8);
    assertTrue(page.contains("&lt;b&gt;") && !page.contains("<b>\""), "the search words are escaped");
    assertFalse(new String(get("/compiled", null).body(), StandardCharsets.UTF_8).contains("$"),
        "every reference has a value");
  }

  @Test
  void addsToTheCart() throws Exception {
    HttpResponse<byte[]> added = get("/compiled?q=a&add=7", "cart=3");
    assertEquals(303, added.statusCode());
    assertEquals("/compiled?q=a", added.headers().firstValue("Location").orElse("none"));
    assertTrue(added.headers().firstValue("Set-Cookie").orElse("none").startsWith("cart=3.7;"));
  }

  @Test
  void showsTheCpuTimesOfBoth() throws Exception {
    HttpResponse<byte[]> start = get("/", null);
    Matcher ratio = Pattern.compile("takes ([0-9.]+) times less")
        .matcher(new String(start.body(), StandardCharsets.UTF_8));
    assertTrue(ratio.find());
    System.out.println("stock / compiled: " + ratio.group(1));
    assertEquals(404, get("/other", null).statusCode());
  }
}
