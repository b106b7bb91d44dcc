package org.yunti.web.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.util.List;
import org.apache.velocity.Template;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.yunti.web.spring.TemplateViewResolver;
import org.yunti.web.velocity.CompiledTemplate;

/** Tests of the starter in an application with its own server. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"yunti.velocity.properties.parser.space_gobbling=none", "spring.main.banner-mode=off",
        "logging.level.root=warn"})
class StarterTest {
  @SpringBootApplication
  static class Shop {
    /** Controller of an application. */
    @Controller
    static class Teas {
      @GetMapping("/teas")
      String teas(Model model) {
        model.addAttribute("title", "茶").addAttribute("teas", List.of("龙井", "oolong"));
        return "teas";
      }
    }
  }

  @Autowired
  private TestRestTemplate client;
  @Autowired
  private VelocityEngine engine;

  @Test
  void rendersTheTemplateOfAController() {
    ResponseEntity<String> page = client.getForEntity("/teas", String.class);
    assertEquals("<h1>茶</h1><p>1 龙井</p><p>2 oolong</p>\n", page.getBody());
    assertEquals("text/html;charset=UTF-8", page.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE));
    assertEquals(43, page.getHeaders().getContentLength());
    assertInstanceOf(CompiledTemplate.class, engine.getTemplate("teas.vm"));
    assertEquals("none", engine.getProperty("parser.space_gobbling"));
  }

  private final WebApplicationContextRunner runner =
      new WebApplicationContextRunner().withConfiguration(AutoConfigurations.of(YuntiVelocityAutoConfiguration.class));

  @Test
  void rendersWithStockVelocityOnRequest() {
    runner.withPropertyValues("yunti.velocity.compile=false")
        .run(context -> assertEquals(Template.class, context.getBean(VelocityEngine.class).getTemplate("teas.vm")
        .getClass()));
  }

  @Test
  void createsNothingIfDisabled() {
    runner.withPropertyValues("yunti.velocity.enabled=false")
        .run(context -> assertFalse(context.containsBean("templateViewResolver")
        || context.containsBean("velocityEngine")));
  }

  @Test
  void usesTheEngineOfTheApplication() {
    VelocityEngine own = new VelocityEngine();
    runner.withBean(VelocityEngine.class, () -> own).run(context -> {
      assertEquals(own, context.getBean(VelocityEngine.class));
      assertEquals(1, context.getBeansOfType(TemplateViewResolver.class).size());
    });
  }
}
