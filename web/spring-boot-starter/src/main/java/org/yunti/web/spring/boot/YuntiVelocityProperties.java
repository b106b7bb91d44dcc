package org.yunti.web.spring.boot;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings {@code yunti.velocity.*}.
 *
 * @param enabled true creates the engine and the view resolver; default true
 * @param compile true compiles templates, false renders them with stock Velocity; default true
 * @param location folder of the templates, as a Spring resource; default {@code classpath:/templates/}
 * @param prefix prefix of template names; default empty
 * @param suffix suffix of template names; default {@code .vm}
 * @param charset charset of templates and pages; default UTF-8
 * @param contentType content type of pages; default text/html in their charset
 * @param cache true keeps templates, false reloads changed ones on each use, for development; default true
 * @param requestContextAttribute name of Spring's RequestContext in templates; default none
 * @param properties properties of Velocity, which win over the others
 */
@ConfigurationProperties("yunti.velocity")
public record YuntiVelocityProperties(@DefaultValue("true") boolean enabled, @DefaultValue("true") boolean compile,
    @DefaultValue("classpath:/templates/") String location, @DefaultValue("") String prefix,
    @DefaultValue(".vm") String suffix, Charset charset, String contentType, @DefaultValue("true") boolean cache,
    String requestContextAttribute, Map<String, String> properties) {

  /** Replaces missing values by their defaults. */
  public YuntiVelocityProperties {
    charset = charset == null ? StandardCharsets.UTF_8 : charset;
    properties = properties == null ? Map.of() : new HashMap<>(properties);
  }
}
