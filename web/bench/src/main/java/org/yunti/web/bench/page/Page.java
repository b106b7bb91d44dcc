package org.yunti.web.bench.page;

import java.util.Map;

/**
 * Page for Velocity.
 *
 * @param template name of its template
 * @param resources templates that it needs: name to path on the class path
 * @param model values of its context
 */
public record Page(String template, Map<String, String> resources, Map<String, Object> model) {
  static Page of(String name, String path, Map<String, Object> model) {
    return new Page(name, Map.of(name, path), model);
  }
}
