package org.yunti.hadoop.faults.planted;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Java agent that makes native methods of the plug-in fail. The plug-in has no code for it.
 *
 * <pre>
 *   -javaagent:yunti-hadoop-faults.jar=ATTEMPTS:TASK.METHOD.CALL.KIND,..       e.g. 0-1:m0.put.2.io,r3.next.1.halt
 * </pre>
 *
 * In attempts ATTEMPTS (0, or 0-1) of task TASK ({@code m0} is the first map task), call number CALL of METHOD fails
 * as KIND defines ({@link Planted}). Each native method becomes a Java method that calls {@link Planted#call}, then
 * the native method under a prefixed name, which the JVM resolves without the prefix.
 */
public final class PlantingAgent {
  private static final String PREFIX = "unplanted_";
  private static final Set<String> CLASSES =
      Set.of("org/yunti/hadoop/collect/NativeMapOutput", "org/yunti/hadoop/shuffle/NativeReduceInput");

  private PlantingAgent() {}

  public static void premain(String plan, Instrumentation instrumentation) {
    if (!Planted.plan(plan, System.getProperty("sun.java.command", ""))) {
      return;
    }
    Wrapping wrapping = new Wrapping();
    instrumentation.addTransformer(wrapping);
    instrumentation.setNativeMethodPrefix(wrapping, PREFIX);
  }

  private static final class Wrapping implements ClassFileTransformer {
    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
      if (!CLASSES.contains(name)) {
        return null;
      }
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      new ClassReader(bytes).accept(new Wrapper(writer, name), 0);
      return writer.toByteArray();
    }
  }

  private static final class Wrapper extends ClassVisitor {
    private final String owner;

    Wrapper(ClassVisitor to, String owner) {
      super(Opcodes.ASM9, to);
      this.owner = owner;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
      if ((access & Opcodes.ACC_NATIVE) == 0) {
        return super.visitMethod(access, name, descriptor, signature, exceptions);
      }
      // All native methods are static.
      MethodVisitor body = super.visitMethod(access & ~Opcodes.ACC_NATIVE, name, descriptor, signature, exceptions);
      body.visitCode();
      body.visitLdcInsn(name);
      body.visitMethodInsn(
          Opcodes.INVOKESTATIC, Type.getInternalName(Planted.class), "call", "(Ljava/lang/String;)V", false);
      int slot = 0;
      for (Type argument : Type.getArgumentTypes(descriptor)) {
        body.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), slot);
        slot += argument.getSize();
      }
      body.visitMethodInsn(Opcodes.INVOKESTATIC, owner, PREFIX + name, descriptor, false);
      body.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
      body.visitMaxs(0, 0);
      body.visitEnd();
      return super.visitMethod(access, PREFIX + name, descriptor, signature, exceptions);
    }
  }
}
