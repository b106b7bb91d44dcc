package org.yunti.web.spring.boot;

import org.springframework.boot.autoconfigure.template.TemplateAvailabilityProvider;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/**
 * Lookup of templates before the engine exists. Spring Boot finds error pages by it: {@code error/404.vm}, {@code
 * error/5xx.vm}, {@code error.vm}.
 */
public final class VelocityTemplateAvailability implements TemplateAvailabilityProvider {
  @Override
  public boolean isTemplateAvailable(String view, Environment environment, ClassLoader classes,
      ResourceLoader resources) {
    if (!environment.getProperty("yunti.velocity.enabled", Boolean.class, true)) {
      return false;
    }
    String location = environment.getProperty("yunti.velocity.location", "classpath:/templates/");
    return resources.getResource((location.endsWith("/") ? location : location + "/")
        + environment.getProperty("yunti.velocity.prefix", "") + view
        + environment.getProperty("yunti.velocity.suffix", ".vm")).exists();
  }
}
