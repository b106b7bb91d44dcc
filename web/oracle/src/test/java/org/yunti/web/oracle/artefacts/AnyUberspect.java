package org.yunti.web.oracle.artefacts;

import java.lang.reflect.Method;
import org.apache.velocity.util.introspection.Info;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.apache.velocity.util.introspection.VelMethod;

/** Velocity's Uberspector, except that the model has every method. */
public final class AnyUberspect extends UberspectImpl {
  @Override
  public VelMethod getMethod(Object o, String name, Object[] arguments, Info info) {
    VelMethod found = super.getMethod(o, name, arguments, info);
    boolean ours = o instanceof Anything || o instanceof Anything.Bean;
    return found != null || !ours ? found : new Any(name);
  }

  /** Method of any name: a getter returns the property, any other method the property of its name. */
  private record Any(String name) implements VelMethod {
    @Override
    public Object invoke(Object o, Object[] arguments) {
      String property = name.matches("get[A-Z].*") ? Character.toLowerCase(name.charAt(3)) + name.substring(4) : name;
      return o instanceof Anything any ? any.child(property) : ((Anything.Bean) o).get(property);
    }

    @Override
    public boolean isCacheable() {
      return true;
    }

    @Override
    public String getMethodName() {
      return name;
    }

    @Override
    public Method getMethod() {
      return null;
    }

    @Override
    public Class<?> getReturnType() {
      return Object.class;
    }
  }
}
