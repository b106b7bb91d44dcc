package org.yunti.web.spring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.head;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.ResourceNotFoundException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.stereotype.Controller;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.view.InternalResourceView;
import org.springframework.web.servlet.view.UrlBasedViewResolver;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.velocity.CompilingResourceManager;

class TemplateViewResolverTest {
  /** Controller of an application. */
  @Controller
  static class Hello {
    @GetMapping("/hello")
    String hello(Model model) {
      model.addAttribute("name", "安");
      return "hello";
    }

    @GetMapping("/away")
    String away() {
      return "redirect:/hello";
    }

    @GetMapping("/none")
    String none() {
      return "missing";
    }

    @GetMapping("/fault")
    String fault(HttpServletResponse response) throws IOException {
      response.setContentType("text/html");
      response.setHeader("X-Request", "7");
      response.getOutputStream().write('b');
      return "fault";
    }

    @GetMapping("/late")
    String late(HttpServletResponse response) throws IOException {
      response.setContentType("text/html");
      response.getOutputStream().print("begun");
      response.flushBuffer();
      return "fault";
    }
  }

  @TempDir
  Path folder;
  private MockMvc mvc;
  /** Response of the last request, also of one that failed. */
  private MockHttpServletResponse response;

  @BeforeEach
  void start() throws IOException {
    Files.createDirectory(folder.resolve("views"));
    Files.writeString(folder.resolve("views/hello.vm"), "#set($seen = 1)<p>$name at $rc.contextPath/$seen</p>");
    Files.writeString(folder.resolve("views/fault.vm"), "<p>half a page</p>#include('none.txt')");
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    properties.setProperty("resource.loader.file.path", folder.toString());
    VelocityEngine engine = new VelocityEngine(properties);
    engine.init();
    TemplateViewResolver resolver = new TemplateViewResolver(new PageRenderer(engine));
    resolver.setPrefix("views/");
    resolver.setRequestContextAttribute("rc");
    UrlBasedViewResolver other = new UrlBasedViewResolver();
    other.setViewClass(InternalResourceView.class);
    other.setPrefix("/other/");
    mvc = MockMvcBuilders.standaloneSetup(new Hello()).setViewResolvers(resolver, other)
        .addFilters((request, answer, chain) -> {
          response = (MockHttpServletResponse) answer;
          chain.doFilter(request, answer);
        }).build();
  }

  @Test
  void rendersAViewWithItsTemplate() throws Exception {
    MockHttpServletResponse page = mvc.perform(get("/hello")).andReturn().getResponse();
    assertEquals("text/html;charset=UTF-8", page.getContentType());
    assertEquals(16, page.getContentLength());
    assertArrayEquals("<p>安 at /1</p>".getBytes(StandardCharsets.UTF_8), page.getContentAsByteArray());
    MockHttpServletResponse head = mvc.perform(head("/hello")).andReturn().getResponse();
    assertEquals(16, head.getContentLength());
    assertEquals(0, head.getContentAsByteArray().length);
  }

  /** Performs a request of a page that fails, and returns its response. */
  private MockHttpServletResponse fault(String path) {
    ServletException e = assertThrows(ServletException.class, () -> mvc.perform(get(path)));
    assertInstanceOf(ResourceNotFoundException.class, e.getRootCause());
    return response;
  }

  @Test
  void leavesTheResponseOfAFailedPageToTheErrorPage() {
    MockHttpServletResponse page = fault("/fault");
    assertFalse(page.isCommitted());
    assertNull(page.getContentType());
    assertEquals("7", page.getHeader("X-Request"));
    assertEquals(0, page.getContentAsByteArray().length);
  }

  @Test
  void addsNothingToACommittedResponse() throws Exception {
    MockHttpServletResponse page = fault("/late");
    assertTrue(page.isCommitted());
    assertEquals("text/html", page.getContentType());
    assertEquals("begun", page.getContentAsString());
  }

  @Test
  void leavesOtherNamesToOtherResolvers() throws Exception {
    assertEquals("/hello", mvc.perform(get("/away")).andReturn().getResponse().getRedirectedUrl());
    assertEquals("/other/missing", mvc.perform(get("/none")).andReturn().getResponse().getForwardedUrl());
  }
}
