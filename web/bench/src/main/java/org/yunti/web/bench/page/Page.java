package org.yunti.web.bench.page;

import java.util.Map;

/**
 * A page for Velocity.
 *
 * @param template the name of its template
 * @param resources the templates that it needs: name to path on the class path
 * @param model what its context holds
 */
public record Page(String template, Map<String, String> resources, Map<String, Object> model) {
  static Page of(String name, String path, Map<String, Object> model) {
    return new Page(name, Map.of(name, path), model);
  }
}
