package org.yunti.web.velocity.compiler;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.yunti.web.velocity.output.StaticText;

/**
 * Generator of one hidden class. It has static methods, one per piece and one per part of a piece that is too large.
 * The objects that they use are static final fields, which the JIT treats as constants.
 */
final class ClassGenerator {
  static final String RUNTIME = "org/yunti/web/velocity/runtime/";
  static final String TREE = "org/yunti/web/velocity/tree/";
  static final String LINK = "org/yunti/web/velocity/link/";
  static final String CONTEXT = "Lorg/apache/velocity/context/InternalContextAdapter;";
  static final String WRITER = "Ljava/io/Writer;";
  /** Descriptor of methods that render. */
  static final String RENDER = "(" + CONTEXT + WRITER + ")V";
  static final String SCOPES = "[Lorg/apache/velocity/runtime/directive/ForeachScope;";
  /** Descriptor of methods that render a part of a piece, with the scopes of {@link SpareScopes}. */
  static final String RENDER_PART = "(" + CONTEXT + WRITER + SCOPES + ")V";
  /** Descriptor of methods that compute a value. */
  static final String VALUE = "(" + CONTEXT + ")Ljava/lang/Object;";
  /** Constants per class: each takes about 11 bytes of the 65,535 of a class initialiser. */
  private static final int CONSTANTS_MAX = 5_000;

  private static final int PRIVATE_STATIC = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC;

  private final ClassWriter writer = new FramesWithoutLoading();
  private final String name;
  /** Objects of the class data. */
  private final List<Object> constants = new ArrayList<>();
  private final List<Constant> fields = new ArrayList<>();
  private final Map<Object, Constant> byIdentity = new IdentityHashMap<>();
  private final Map<String, Constant> texts = new HashMap<>();
  private int methods;

  /**
   * Static field of a constant.
   *
   * @param index index of its object in the class data
   */
  private record Constant(int index, String name, TypeName type) {}

  /** Name and descriptor of a class in class files. */
  private record TypeName(String internal, String descriptor) {
    private static final ClassValue<TypeName> KNOWN = new ClassValue<>() {
      @Override
      protected TypeName computeValue(Class<?> type) {
        return new TypeName(Type.getInternalName(type), Type.getDescriptor(type));
      }
    };
  }

  /**
   * Writer whose frames merge all object types to Object: generated code keeps each variable at one type, and no class
   * must be loaded.
   */
  private static final class FramesWithoutLoading extends ClassWriter {
    FramesWithoutLoading() {
      super(COMPUTE_FRAMES);
    }

    @Override
    protected String getCommonSuperClass(String a, String b) {
      return "java/lang/Object";
    }
  }

  ClassGenerator(String simpleName) {
    name = RUNTIME + simpleName;
    writer.visit(Opcodes.V17, Opcodes.ACC_FINAL | Opcodes.ACC_SYNTHETIC, name, null, TREE + "CompiledCode", null);
    MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
    constructor.visitCode();
    constructor.visitVarInsn(Opcodes.ALOAD, 0);
    constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, TREE + "CompiledCode", "<init>", "()V", false);
    constructor.visitInsn(Opcodes.RETURN);
    constructor.visitMaxs(0, 0);
    constructor.visitEnd();
  }

  String name() {
    return name;
  }

  String newMethodName(String what) {
    return what + methods++;
  }

  MethodVisitor method(String method, String descriptor) {
    return writer.visitMethod(PRIVATE_STATIC, method, descriptor, null, null);
  }

  /** Loads an object as a constant; its field has the type {@code type}. */
  void load(MethodVisitor code, Object constant, Class<?> type) {
    String text = constant instanceof StaticText known ? known.string() : null;
    Constant field = text == null ? byIdentity.get(constant) : texts.get(text);
    if (field == null) {
      int index = forBootstrap(constant);
      field = new Constant(index, "c" + index, TypeName.KNOWN.get(type));
      fields.add(field);
      if (text == null) {
        byIdentity.put(constant, field);
      } else {
        texts.put(text, field);
      }
    }
    code.visitFieldInsn(Opcodes.GETSTATIC, name, field.name, field.type.descriptor);
  }

  /**
   * Adds an object without a field for bootstrap methods: fields make linking a class slow.
   *
   * @return the index of the object in the class data
   */
  int forBootstrap(Object constant) {
    if (constants.size() == CONSTANTS_MAX) {
      throw new TooLargeException("more than " + CONSTANTS_MAX + " constants");
    }
    constants.add(constant);
    return constants.size() - 1;
  }

  int size() {
    return constants.size();
  }

  Object[] constants() {
    return constants.toArray();
  }

  /**
   * Returns the bytes of the class.
   *
   * @param renders and {@code computes}: the method names of the pieces; null at the number of a piece of the other
   *     kind
   */
  byte[] finish(List<String> renders, List<String> computes) {
    dispatch("render", "(I" + CONTEXT + WRITER + ")V", RENDER, renders, true);
    dispatch("value", "(I" + CONTEXT + ")Ljava/lang/Object;", VALUE, computes, false);
    for (Constant field : fields) {
      writer.visitField(PRIVATE_STATIC | Opcodes.ACC_FINAL, field.name, field.type.descriptor, null, null).visitEnd();
    }
    initialiser();
    writer.visitEnd();
    return writer.toByteArray();
  }

  private void initialiser() {
    MethodVisitor code = writer.visitMethod(Opcodes.ACC_STATIC, "<clinit>", "()V", null, null);
    code.visitCode();
    code.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/invoke/MethodHandles", "lookup",
        "()Ljava/lang/invoke/MethodHandles$Lookup;", false);
    code.visitLdcInsn("_");
    code.visitLdcInsn(Type.getType(Object[].class));
    code.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/invoke/MethodHandles", "classData",
        "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;", false);
    code.visitTypeInsn(Opcodes.CHECKCAST, "[Ljava/lang/Object;");
    code.visitVarInsn(Opcodes.ASTORE, 0);
    for (Constant field : fields) {
      code.visitVarInsn(Opcodes.ALOAD, 0);
      code.visitIntInsn(Opcodes.SIPUSH, field.index);
      code.visitInsn(Opcodes.AALOAD);
      code.visitTypeInsn(Opcodes.CHECKCAST, field.type.internal);
      code.visitFieldInsn(Opcodes.PUTSTATIC, name, field.name, field.type.descriptor);
    }
    code.visitInsn(Opcodes.RETURN);
    code.visitMaxs(0, 0);
    code.visitEnd();
  }

  private void dispatch(String method, String descriptor, String target, List<String> pieces, boolean renders) {
    MethodVisitor code = writer.visitMethod(Opcodes.ACC_PROTECTED, method, descriptor, null, null);
    code.visitCode();
    Label unknown = new Label();
    Label[] labels = new Label[pieces.size()];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = pieces.get(i) == null ? unknown : new Label();
    }
    if (labels.length > 0) {
      code.visitVarInsn(Opcodes.ILOAD, 1);
      code.visitTableSwitchInsn(0, labels.length - 1, unknown, labels);
    }
    for (int i = 0; i < labels.length; i++) {
      if (pieces.get(i) != null) {
        code.visitLabel(labels[i]);
        code.visitVarInsn(Opcodes.ALOAD, 2);
        if (renders) {
          code.visitVarInsn(Opcodes.ALOAD, 3);
        }
        code.visitMethodInsn(Opcodes.INVOKESTATIC, name, pieces.get(i), target, false);
        code.visitInsn(renders ? Opcodes.RETURN : Opcodes.ARETURN);
      }
    }
    code.visitLabel(unknown);
    code.visitTypeInsn(Opcodes.NEW, "java/lang/IllegalArgumentException");
    code.visitInsn(Opcodes.DUP);
    code.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/IllegalArgumentException", "<init>", "()V", false);
    code.visitInsn(Opcodes.ATHROW);
    code.visitMaxs(0, 0);
    code.visitEnd();
  }
}
