package org.yunti.messages.capture;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * The class {@code java.lang.YuntiMessages}, which changed methods call. Every class loader and every module finds
 * classes of java.lang. Its method forwards to a field, whose type is the JDK's. Without a capture the field is null.
 * The class stays in the JVM and refers to no class of the agent.
 *
 * <pre>
 *   end(Object result, Object argument, int target)
 * </pre>
 */
final class Hook {
  static final String NAME = "java/lang/YuntiMessages";
  static final String DESCRIPTOR = "(Ljava/lang/Object;Ljava/lang/Object;I)V";
  private static final String FIELD = "end";

  private final Class<?> type;
  private final MethodHandles.Lookup lookup;

  private Hook(Class<?> type) throws IllegalAccessException {
    this.type = type;
    this.lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
  }

  /** Opens java.lang to the agent's module alone, and finds or defines the class. */
  static Hook in(Instrumentation instrumentation) throws ReflectiveOperationException {
    Module ours = Hook.class.getModule();
    instrumentation.redefineModule(
        Object.class.getModule(), Set.of(), Map.of(), Map.of("java.lang", Set.of(ours)), Set.of(), Map.of());
    synchronized (Object.class.getModule()) {
      try {
        return new Hook(Class.forName(NAME.replace('/', '.'), true, null));
      } catch (ClassNotFoundException e) {
        return new Hook(MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup()).defineClass(bytes()));
      }
    }
  }

  /** Connects the hook to a consumer of {result, argument} and the target. Returns false if another capture uses it. */
  boolean acquire(ObjIntConsumer<Object> to) throws ReflectiveOperationException {
    synchronized (type) {
      var field = lookup.findStaticVarHandle(type, FIELD, ObjIntConsumer.class);
      if (field.get() != null) {
        return false;
      }
      field.setVolatile((ObjIntConsumer<?>) to);
      return true;
    }
  }

  /** Disconnects the hook. */
  void release() throws ReflectiveOperationException {
    synchronized (type) {
      lookup.findStaticVarHandle(type, FIELD, ObjIntConsumer.class).setVolatile((ObjIntConsumer<?>) null);
    }
  }

  private static byte[] bytes() {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    // A class version that needs no stack map frames.
    writer.visit(V1_5, ACC_PUBLIC | ACC_FINAL | ACC_SYNTHETIC, NAME, null, "java/lang/Object", null);
    String fieldType = Type.getDescriptor(ObjIntConsumer.class);
    writer.visitField(ACC_STATIC | ACC_PRIVATE | ACC_VOLATILE, FIELD, fieldType, null, null);
    MethodVisitor method = writer.visitMethod(ACC_PUBLIC | ACC_STATIC, FIELD, DESCRIPTOR, null, null);
    Label unused = new Label();
    method.visitCode();
    method.visitFieldInsn(GETSTATIC, NAME, FIELD, fieldType);
    method.visitVarInsn(ASTORE, 3);
    method.visitVarInsn(ALOAD, 3);
    method.visitJumpInsn(IFNULL, unused);
    method.visitVarInsn(ALOAD, 3);
    method.visitInsn(ICONST_2);
    method.visitTypeInsn(ANEWARRAY, "java/lang/Object");
    for (int i = 0; i < 2; i++) {
      method.visitInsn(DUP);
      method.visitInsn(ICONST_0 + i);
      method.visitVarInsn(ALOAD, i);
      method.visitInsn(AASTORE);
    }
    method.visitVarInsn(ILOAD, 2);
    method.visitMethodInsn(INVOKEINTERFACE, Type.getInternalName(ObjIntConsumer.class), "accept",
        "(Ljava/lang/Object;I)V", true);
    method.visitLabel(unused);
    method.visitInsn(RETURN);
    method.visitMaxs(0, 0);
    method.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }
}
