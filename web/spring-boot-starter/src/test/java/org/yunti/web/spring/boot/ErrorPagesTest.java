package org.yunti.web.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.template.TemplateAvailabilityProviders;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.RequestEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.client.RestClientException;

/** Tests of templates that fail, in an application with its own server. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"spring.main.banner-mode=off", "logging.level.root=off"})
class ErrorPagesTest {
  @SpringBootApplication
  static class Shop {
    /** Controller of pages that fail. */
    @Controller
    static class Faults {
      @GetMapping("/fault")
      String fault() {
        return "fault";
      }

      @GetMapping("/preset")
      String preset(HttpServletResponse response) throws IOException {
        response.setContentType("text/html");
        response.setHeader("X-Request", "7");
        response.getOutputStream().print("begun");
        return "fault";
      }

      @GetMapping("/late")
      String late(HttpServletResponse response) throws IOException {
        response.getOutputStream().print("begun");
        response.flushBuffer();
        return "fault";
      }
    }
  }

  @Autowired
  private TestRestTemplate client;
  @Autowired
  private ApplicationContext context;

  private ResponseEntity<String> get(String path, MediaType accepted) {
    return client.exchange(RequestEntity.get(path).accept(accepted).build(), String.class);
  }

  @Test
  void answersProgramsInTheirFormat() {
    for (String path : new String[] {"/fault", "/preset"}) {
      ResponseEntity<String> answer = get(path, MediaType.ALL);
      assertEquals(500, answer.getStatusCode().value());
      assertEquals(MediaType.APPLICATION_JSON, answer.getHeaders().getContentType());
      assertTrue(answer.getBody().contains("\"status\":500,\"error\":\"Internal Server Error\",\"path\":\"" + path),
          answer.getBody());
    }
    assertEquals("7", get("/preset", MediaType.ALL).getHeaders().getFirst("X-Request"));
  }

  @Test
  void showsBrowsersTheErrorPageOfTheApplication() {
    for (String path : new String[] {"/fault", "/preset"}) {
      ResponseEntity<String> answer = get(path, MediaType.TEXT_HTML);
      assertEquals(500, answer.getStatusCode().value());
      assertEquals("<h1>500 Internal Server Error</h1>\n", answer.getBody());
      assertEquals("text/html;charset=UTF-8", answer.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE));
    }
    assertEquals("<h1>error 404</h1>\n", get("/none", MediaType.TEXT_HTML).getBody());
  }

  @Test
  void closesTheConnectionAfterACommittedResponse() {
    assertThrows(RestClientException.class, () -> get("/late", MediaType.ALL));
  }

  @Test
  void findsTemplatesOfItsLocationOnly() {
    TemplateAvailabilityProviders providers = new TemplateAvailabilityProviders(context);
    MockEnvironment environment = new MockEnvironment().withProperty("spring.template.provider.cache", "false");
    ClassLoader classes = getClass().getClassLoader();
    assertTrue(providers.getProvider("error/5xx", environment, classes, context) != null);
    assertFalse(providers.getProvider("error/404", environment, classes, context) != null);
    environment.setProperty("yunti.velocity.location", "classpath:/templates/error");
    environment.setProperty("yunti.velocity.suffix", "xx.vm");
    assertTrue(providers.getProvider("5", environment, classes, context) != null);
    environment.setProperty("yunti.velocity.enabled", "false");
    assertFalse(providers.getProvider("5", environment, classes, context) != null);
  }
}
