package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;
import org.yunti.observe.trace.calls.Recorder;

/**
 * The class {@code java.lang.YuntiTrace}, which changed methods call. Every class loader and every module finds classes
 * of java.lang. Each of its five methods forwards to a field, whose type is the JDK's. Without a trace the fields are
 * null. The class stays in the JVM and refers to no class of the agent.
 *
 * <pre>
 *   enter(int)  enter(Object arguments, int)  exit(int)  exit(Object value, int)  thrown(Object error, int)
 * </pre>
 */
public final class Hook {
  static final String NAME = "java/lang/YuntiTrace";
  static final String WITH_OBJECT = "(Ljava/lang/Object;I)V";
  static final String PLAIN = "(I)V";
  /** Method numbers per trace. Traces share no numbers, because a method that runs long may report to a later trace. */
  private static final int NUMBERS = 1 << 16;

  private final Class<?> type;
  private final MethodHandles.Lookup lookup;
  private int base;

  private Hook(Class<?> type) throws IllegalAccessException {
    this.type = type;
    this.lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
  }

  /** Opens java.lang to the agent's module alone, and finds or defines the class. */
  public static Hook in(Instrumentation instrumentation) throws ReflectiveOperationException {
    Module ours = Hook.class.getModule();
    instrumentation.redefineModule(
        Object.class.getModule(), Set.of(), Map.of(), Map.of("java.lang", Set.of(ours)), Set.of(), Map.of());
    return new Hook(found());
  }

  private static Class<?> found() throws ReflectiveOperationException {
    synchronized (Object.class.getModule()) {
      try {
        return Class.forName(NAME.replace('/', '.'), true, null);
      } catch (ClassNotFoundException e) {
        return MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup()).defineClass(bytes());
      }
    }
  }

  /** Connects the hook to a recorder. Returns false if another trace uses it. */
  public boolean acquire(Recorder to) throws ReflectiveOperationException {
    synchronized (type) {
      var looks = lookup.findStaticVarHandle(type, "looks", int.class);
      if (lookup.findStaticVarHandle(type, "enter", IntConsumer.class).get() != null) {
        return false;
      }
      base = (int) looks.get() * NUMBERS;
      looks.set((int) looks.get() + 1);
      to.setBase(base);
      set("exit", (IntConsumer) to::exit);
      set("exitWith", (ObjIntConsumer<Object>) to::exit);
      set("thrown", (ObjIntConsumer<Object>) to::thrown);
      set("enterWith", (ObjIntConsumer<Object>) to::enter);
      set("enter", (IntConsumer) to::enter);
      return true;
    }
  }

  int number(int method) {
    return base + method;
  }

  static boolean hasNumber(int method) {
    return method < NUMBERS;
  }

  /** Disconnects the hook. */
  public void release() throws ReflectiveOperationException {
    synchronized (type) {
      for (String field : new String[] {"exit", "enter"}) {
        lookup.findStaticVarHandle(type, field, IntConsumer.class).setVolatile((IntConsumer) null);
      }
      for (String field : new String[] {"exitWith", "thrown", "enterWith"}) {
        lookup.findStaticVarHandle(type, field, ObjIntConsumer.class).setVolatile((ObjIntConsumer<?>) null);
      }
    }
  }

  private void set(String field, IntConsumer to) throws ReflectiveOperationException {
    lookup.findStaticVarHandle(type, field, IntConsumer.class).setVolatile(to);
  }

  private void set(String field, ObjIntConsumer<Object> to) throws ReflectiveOperationException {
    lookup.findStaticVarHandle(type, field, ObjIntConsumer.class).setVolatile((ObjIntConsumer<?>) to);
  }

  private static byte[] bytes() {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    // A class version that needs no stack map frames.
    writer.visit(V1_5, ACC_PUBLIC | ACC_FINAL | ACC_SYNTHETIC, NAME, null, "java/lang/Object", null);
    writer.visitField(ACC_STATIC | ACC_PRIVATE, "looks", "I", null, null);
    forwarder(writer, "enter", PLAIN, "enter", IntConsumer.class);
    forwarder(writer, "enter", WITH_OBJECT, "enterWith", ObjIntConsumer.class);
    forwarder(writer, "exit", PLAIN, "exit", IntConsumer.class);
    forwarder(writer, "exit", WITH_OBJECT, "exitWith", ObjIntConsumer.class);
    forwarder(writer, "thrown", WITH_OBJECT, "thrown", ObjIntConsumer.class);
    writer.visitEnd();
    return writer.toByteArray();
  }

  private static void forwarder(ClassWriter writer, String name, String descriptor, String field, Class<?> to) {
    String fieldType = Type.getDescriptor(to);
    writer.visitField(ACC_STATIC | ACC_PRIVATE | ACC_VOLATILE, field, fieldType, null, null);
    MethodVisitor method = writer.visitMethod(ACC_PUBLIC | ACC_STATIC, name, descriptor, null, null);
    boolean withObject = descriptor.equals(WITH_OBJECT);
    Label unused = new Label();
    int local = withObject ? 2 : 1;
    method.visitCode();
    method.visitFieldInsn(GETSTATIC, NAME, field, fieldType);
    method.visitVarInsn(ASTORE, local);
    method.visitVarInsn(ALOAD, local);
    method.visitJumpInsn(IFNULL, unused);
    method.visitVarInsn(ALOAD, local);
    if (withObject) {
      method.visitVarInsn(ALOAD, 0);
    }
    method.visitVarInsn(ILOAD, local - 1);
    method.visitMethodInsn(INVOKEINTERFACE, Type.getInternalName(to), "accept", descriptor, true);
    method.visitLabel(unused);
    method.visitInsn(RETURN);
    method.visitMaxs(0, 0);
    method.visitEnd();
  }
}
