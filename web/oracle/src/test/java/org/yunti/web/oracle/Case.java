package org.yunti.web.oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;

/**
 * Case for both engines: templates, properties, and one step per page. One engine renders all steps of a case, so later
 * pages see the caches and macros of earlier ones.
 */
public final class Case {
  public static final String MAIN = "main.vm";

  /** Action before a page: a template is modified, a macro is called. */
  public interface Change {
    void to(VelocityEngine engine, MemoryLoader loader);
  }

  /**
   * Step of a case.
   *
   * @param context supplier of the page's context, equal at each call; null reuses the context of the page before
   */
  public record Step(String template, String encoding, Supplier<Context> context, Sinks sink, Change before) {}

  private final String name;
  private final Map<String, Object> templates = new LinkedHashMap<>();
  private final Map<String, Object> properties = new LinkedHashMap<>();
  private final List<Step> steps = new ArrayList<>();
  private Change start = (engine, loader) -> {};

  public Case(String name) {
    this.name = name;
  }

  public Case template(String template, Object content) {
    templates.put(template, content);
    return this;
  }

  public Case main(String content) {
    return template(MAIN, content);
  }

  public Case property(String key, Object value) {
    properties.put(key, value);
    return this;
  }

  /** Sets the action before the engine's first page: settings through its methods. */
  public Case start(Change change) {
    start = change;
    return this;
  }

  public Case page(Supplier<Context> context, Sinks sink) {
    return page(MAIN, context, sink, (engine, loader) -> {});
  }

  public Case page(String template, Supplier<Context> context, Sinks sink, Change before) {
    return page(template, "UTF-8", context, sink, before);
  }

  public Case page(String template, String encoding, Supplier<Context> context, Sinks sink, Change before) {
    steps.add(new Step(template, encoding, context, sink, before));
    return this;
  }

  /** Returns a copy with one template changed, for shrinking. */
  public Case with(String template, Object content) {
    Case copy = new Case(name).start(start);
    copy.templates.putAll(templates);
    copy.templates.put(template, content);
    copy.properties.putAll(properties);
    copy.steps.addAll(steps);
    return copy;
  }

  /** Returns a copy without a secondary template or a property. */
  public Case without(String templateOrProperty) {
    Case copy = with(MAIN, templates.get(MAIN));
    copy.templates.remove(templateOrProperty);
    copy.properties.remove(templateOrProperty);
    return copy;
  }

  public Case withoutStep(int index) {
    Case copy = with(MAIN, templates.get(MAIN));
    copy.steps.remove(index);
    return copy;
  }

  /** Returns a copy with only the first page. */
  public Case firstPage() {
    Case copy = with(MAIN, templates.get(MAIN));
    copy.steps.subList(1, copy.steps.size()).clear();
    return copy;
  }

  public String name() {
    return name;
  }

  public Map<String, Object> templates() {
    return templates;
  }

  public Map<String, Object> properties() {
    return properties;
  }

  public List<Step> steps() {
    return steps;
  }

  Change start() {
    return start;
  }
}
