package org.yunti.web.spring.boot;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code yunti.velocity.*}.
 *
 * @param enabled whether there is an engine and a view resolver; on
 * @param compile whether templates are compiled; off, stock Velocity renders them
 * @param location where templates are, as Spring names resources
 * @param prefix before the name of a view
 * @param suffix behind it
 * @param charset of templates and of pages
 * @param contentType of pages; without it, text/html in their charset
 * @param cache whether templates are kept; off, each is looked at again whenever it is asked for, which is for development
 * @param requestContextAttribute the name under which templates see Spring's RequestContext; without it they do not
 * @param properties properties of Velocity itself, which win over the others
 */
@ConfigurationProperties("yunti.velocity")
public record YuntiVelocityProperties(@DefaultValue("true") boolean enabled, @DefaultValue("true") boolean compile,
    @DefaultValue("classpath:/templates/") String location, @DefaultValue("") String prefix, @DefaultValue(".vm") String suffix,
    Charset charset, String contentType, @DefaultValue("true") boolean cache, String requestContextAttribute,
    Map<String, String> properties) {

  public YuntiVelocityProperties {
    charset = charset == null ? StandardCharsets.UTF_8 : charset;
    properties = properties == null ? Map.of() : new HashMap<>(properties);
  }
}
