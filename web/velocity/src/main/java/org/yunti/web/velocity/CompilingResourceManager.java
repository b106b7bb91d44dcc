package org.yunti.web.velocity;

import org.apache.velocity.runtime.resource.Resource;
import org.apache.velocity.runtime.resource.ResourceManagerImpl;

/**
 * Velocity's own resource manager, whose templates are compiled when they are loaded. What switches it on is one property:
 *
 * <pre>resource.manager.class = org.yunti.web.velocity.CompilingResourceManager</pre>
 *
 * <p>Loaders, caching, reloading and every other property are Velocity's.
 */
public class CompilingResourceManager extends ResourceManagerImpl {
  @Override
  protected Resource createResource(String name, int type) {
    return type == RESOURCE_TEMPLATE ? new CompiledTemplate() : super.createResource(name, type);
  }
}
