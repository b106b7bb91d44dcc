package org.yunti.hadoop.conformance.link;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.yunti.hadoop.conformance.classfile.ConstantPool;
import org.yunti.hadoop.conformance.classfile.ConstantPool.Member;

/**
 * Check that all classes, methods and fields that a jar refers to exist on this class path, as the JVM would link them.
 * A job would find a missing one only when it runs the code.
 *
 * <p>Limitation: code that reflection reaches is not checked.
 */
public final class LinkCheck {
  private static final String CLASS = ".class";

  private final Set<String> missing = new LinkedHashSet<>();
  private int references;

  /** Usage: {@code LinkCheck JAR}. Exit status: 0 all references link, 1 some do not, 2 usage. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1 || !new File(arguments[0]).isFile()) {
      System.err.println("link check: the argument is a jar on the class path");
      System.exit(2);
    }
    LinkCheck check = new LinkCheck();
    int classes = 0;
    try (JarFile jar = new JarFile(arguments[0])) {
      for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
        if (entry.getName().endsWith(CLASS)) {
          classes++;
          try (InputStream in = jar.getInputStream(entry)) {
            check.check(entry.getName().substring(0, entry.getName().length() - CLASS.length()), in.readAllBytes());
          }
        }
      }
    }
    check.missing.forEach(System.out::println);
    System.out.println(classes + " classes with " + check.references + " references, " + check.missing.size() + " missing");
    System.exit(check.missing.isEmpty() ? 0 : 1);
  }

  /** Looks up what one class refers to. {@code name} has slashes. */
  void check(String name, byte[] file) throws IOException {
    ConstantPool pool = new ConstantPool(file);
    for (String other : pool.classes()) {
      references++;
      attempt(name, other, () -> load(other));
    }
    for (Member member : pool.members()) {
      references++;
      String what = member.owner() + "." + member.name() + member.descriptor();
      attempt(name, what, () -> {
        if (!exists(load(member.owner()), member)) {
          throw new NoSuchMethodException();
        }
      });
    }
    attempt(name, "the interface of its superclasses", () -> checkInherited(load(name)));
  }

  /** Returns a line for each reference that does not link. */
  Set<String> missing() {
    return missing;
  }

  private interface Attempt {
    void run() throws ReflectiveOperationException;
  }

  private void attempt(String from, String what, Attempt attempt) {
    try {
      attempt.run();
    } catch (ReflectiveOperationException | LinkageError e) {
      missing.add("missing: " + what + " in " + from + " (" + e + ")");
    }
  }

  /** Returns the class of a name with slashes, or the element class of an array's descriptor. */
  private static Class<?> load(String name) throws ClassNotFoundException {
    String element = name.replaceFirst("^\\[+L?", "").replaceFirst(";$", "");
    if (name.startsWith("[") && element.length() == 1) {
      return Object.class;
    }
    return Class.forName(element.replace('/', '.'), false, LinkCheck.class.getClassLoader());
  }

  /** Returns true if the class, or a class or interface above it, declares the member. */
  private static boolean exists(Class<?> owner, Member member) {
    if (owner == null) {
      return false;
    }
    if (declares(owner, member) || exists(owner.getSuperclass(), member)) {
      return true;
    }
    for (Class<?> above : owner.getInterfaces()) {
      if (exists(above, member)) {
        return true;
      }
    }
    return owner.isInterface() && declares(Object.class, member);
  }

  private static boolean declares(Class<?> owner, Member member) {
    if (member.isField()) {
      return Arrays.stream(owner.getDeclaredFields()).filter(field -> field.getName().equals(member.name()))
          .map(Field::getType).anyMatch(type -> descriptor(type).equals(member.descriptor()));
    }
    if (member.name().equals("<init>")) {
      return Arrays.stream(owner.getDeclaredConstructors()).anyMatch(c -> descriptor(c, void.class).equals(member.descriptor()));
    }
    // Calls of a method handle carry the types of the call.
    return owner == java.lang.invoke.MethodHandle.class
        || Arrays.stream(owner.getDeclaredMethods()).filter(method -> method.getName().equals(member.name()))
            .anyMatch(method -> descriptor(method, method.getReturnType()).equals(member.descriptor()));
  }

  private static String descriptor(Executable executable, Class<?> returns) {
    return Arrays.stream(executable.getParameterTypes()).map(LinkCheck::descriptor).collect(Collectors.joining("", "(", ")"))
        + descriptor(returns);
  }

  private static String descriptor(Class<?> type) {
    return java.lang.invoke.MethodType.methodType(type).toMethodDescriptorString().substring(2);
  }

  /** Throws if the class is not abstract and leaves an abstract method of its superclasses or interfaces open. */
  private static void checkInherited(Class<?> type) throws NoSuchMethodException {
    if (Modifier.isAbstract(type.getModifiers())) {
      return;
    }
    List<String> open = new ArrayList<>();
    for (Method method : abstractMethods(type, new ArrayList<>())) {
      Method found = find(type, method);
      if (found == null || Modifier.isAbstract(found.getModifiers())) {
        open.add(method.toString());
      }
    }
    if (!open.isEmpty()) {
      throw new NoSuchMethodException(String.join(", ", open));
    }
  }

  private static List<Method> abstractMethods(Class<?> type, List<Method> into) {
    for (Class<?> above = type; above != null; above = above.getSuperclass()) {
      for (Method method : above.getDeclaredMethods()) {
        if (Modifier.isAbstract(method.getModifiers())) {
          into.add(method);
        }
      }
      for (Class<?> implemented : above.getInterfaces()) {
        abstractMethods(implemented, into);
      }
    }
    return into;
  }

  /** Returns the method that a call of {@code wanted} would run: one of a class, else a default method. */
  private static Method find(Class<?> type, Method wanted) {
    Method first = null;
    List<Class<?>> interfaces = new ArrayList<>();
    for (Class<?> above = type; above != null; above = above.getSuperclass()) {
      interfaces.addAll(Arrays.asList(above.getInterfaces()));
      Method own = declared(above, wanted);
      if (own != null && (first == null || Modifier.isAbstract(first.getModifiers()))) {
        first = own;
      }
    }
    for (int i = 0; i < interfaces.size() && (first == null || Modifier.isAbstract(first.getModifiers())); i++) {
      interfaces.addAll(Arrays.asList(interfaces.get(i).getInterfaces()));
      Method own = declared(interfaces.get(i), wanted);
      first = own == null ? first : own;
    }
    return first;
  }

  private static Method declared(Class<?> type, Method wanted) {
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals(wanted.getName())
          && Arrays.equals(method.getParameterTypes(), wanted.getParameterTypes())
          && method.getReturnType() == wanted.getReturnType()) {
        return method;
      }
    }
    return null;
  }
}
