package org.yunti.web.velocity;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.resource.Resource;
import org.apache.velocity.runtime.resource.ResourceManagerImpl;
import org.yunti.web.velocity.compiler.WarmUp;
import org.yunti.web.velocity.tree.CompiledMacro;

/**
 * Velocity's resource manager with templates that are compiled when they are loaded. One property of the engine enables
 * it:
 *
 * <pre>resource.manager.class = org.yunti.web.velocity.CompilingResourceManager</pre>
 *
 * <p>Loaders, caching, reloading and every other property stay Velocity's.
 */
public class CompilingResourceManager extends ResourceManagerImpl {
  @Override
  public synchronized void initialize(RuntimeServices services) {
    WarmUp.begin();
    // Velocity creates directives after the resource manager. The user's own, which may be another #macro, come after
    // this one.
    List<String> directives = new ArrayList<>();
    directives.add(CompiledMacro.class.getName());
    directives.addAll(List.of(services.getConfiguration().getStringArray(RuntimeConstants.CUSTOM_DIRECTIVES)));
    services.getConfiguration().setProperty(RuntimeConstants.CUSTOM_DIRECTIVES, directives);
    super.initialize(services);
  }

  @Override
  protected Resource createResource(String name, int type) {
    return type == RESOURCE_TEMPLATE ? new CompiledTemplate() : super.createResource(name, type);
  }
}
