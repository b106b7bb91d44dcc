package org.yunti.web.spring.boot;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.Charset;
import org.apache.velocity.exception.ResourceNotFoundException;
import org.apache.velocity.runtime.resource.Resource;
import org.apache.velocity.runtime.resource.loader.ResourceLoader;
import org.apache.velocity.util.ExtProperties;

/** Resource loader of Velocity that finds templates as Spring resources: in nested jars, in folders, at URLs. */
public final class SpringResourceLoader extends ResourceLoader {
  /** Attribute of the engine: Spring's loader. */
  static final String LOADER = "yunti.spring.loader";
  /** Attribute of the engine: the folder of the templates. */
  static final String LOCATION = "yunti.spring.location";

  @Override
  public void init(ExtProperties configuration) {}

  private org.springframework.core.io.Resource find(String name) {
    var loader = (org.springframework.core.io.ResourceLoader) rsvc.getApplicationAttribute(LOADER);
    return loader.getResource(rsvc.getApplicationAttribute(LOCATION) + name);
  }

  @Override
  public boolean resourceExists(String name) {
    return find(name).exists();
  }

  @Override
  public Reader getResourceReader(String name, String encoding) {
    org.springframework.core.io.Resource found = find(name);
    try {
      return new InputStreamReader(found.getInputStream(), Charset.forName(encoding));
    } catch (IOException e) {
      throw new ResourceNotFoundException("there is no template at " + found.getDescription()
          + " (yunti.velocity.location)", e);
    }
  }

  @Override
  public boolean isSourceModified(Resource resource) {
    return getLastModified(resource) != resource.getLastModified();
  }

  @Override
  public long getLastModified(Resource resource) {
    try {
      return find(resource.getName()).lastModified();
    } catch (IOException e) {
      return 0;
    }
  }
}
