package org.yunti.web.spring.boot;

import java.util.Properties;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.runtime.RuntimeConstants;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ResourceLoader;
import org.yunti.web.page.PageRenderer;
import org.yunti.web.spring.TemplateViewResolver;
import org.yunti.web.velocity.CompilingResourceManager;

/**
 * Auto-configuration of an engine, a page renderer and a view resolver; each is left out if the application has its
 * own.
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(name = "yunti.velocity.enabled", matchIfMissing = true)
@EnableConfigurationProperties(YuntiVelocityProperties.class)
public class YuntiVelocityAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  VelocityEngine velocityEngine(YuntiVelocityProperties settings, ResourceLoader resources) {
    VelocityEngine engine = new VelocityEngine();
    Properties properties = new Properties();
    properties.setProperty(RuntimeConstants.INPUT_ENCODING, settings.charset().name());
    properties.setProperty(RuntimeConstants.RESOURCE_LOADERS, "spring");
    properties.setProperty("resource.loader.spring.class", SpringResourceLoader.class.getName());
    properties.setProperty("resource.loader.spring.cache", Boolean.toString(settings.cache()));
    if (settings.compile()) {
      properties.setProperty(RuntimeConstants.RESOURCE_MANAGER_CLASS, CompilingResourceManager.class.getName());
    }
    properties.putAll(settings.properties());
    engine.setProperties(properties);
    engine.setApplicationAttribute(SpringResourceLoader.LOADER, resources);
    engine.setApplicationAttribute(SpringResourceLoader.LOCATION, settings.location().endsWith("/")
        ? settings.location()
        : settings.location() + "/");
    engine.init();
    return engine;
  }

  @Bean
  @ConditionalOnMissingBean
  PageRenderer pageRenderer(VelocityEngine engine, YuntiVelocityProperties settings) {
    return new PageRenderer(engine, settings.charset());
  }

  @Bean
  @ConditionalOnMissingBean
  TemplateViewResolver templateViewResolver(PageRenderer pages, YuntiVelocityProperties settings) {
    TemplateViewResolver resolver = new TemplateViewResolver(pages);
    resolver.setPrefix(settings.prefix());
    resolver.setSuffix(settings.suffix());
    resolver.setContentType(settings.contentType());
    resolver.setRequestContextAttribute(settings.requestContextAttribute());
    resolver.setCache(settings.cache());
    return resolver;
  }
}
