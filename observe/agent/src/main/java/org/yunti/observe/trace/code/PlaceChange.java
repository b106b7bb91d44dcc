package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.util.List;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;
import org.yunti.observe.trace.code.Places.Role;

/**
 * Adds reports of events to a method: at its begin, at its ends, and around its monitors.
 *
 * <pre>
 *   acquire        want(this); .. ; result ? acquired(this) : failed(this); return
 *   synchronized   acquired(this); try { .. released(this); return } catch (any e) { released(this); throw e }
 *   monitorenter   want(o); monitorenter o; acquired(o)
 *   monitorexit    released(o); monitorexit o
 * </pre>
 *
 * It adds no branches and no local variables, so the method's stack map frames stay valid. A result becomes part of the
 * number: the number of failed, plus 1 for a result that is true or not null.
 */
final class PlaceChange extends MethodVisitor {
  /** Stack slots that are added. */
  private static final int STACK = 6;

  /**
   * Report of a method.
   *
   * @param role null: the monitor of a synchronized method, from {@code first} to {@code second}
   * @param field field with the object that it is about, and its descriptor; null: the object itself
   */
  record Report(Role role, int first, int second, String field) {
    Report(Role role, int first, int second) {
      this(role, first, second, null);
    }

    /** Returns true if an exception ends it too. */
    boolean isSpan() {
      return role == null || role == Role.RUN || role == Role.REQUEST;
    }
  }

  private final ClassChanges.Change type;
  private final boolean isStatic;
  private final Type result;
  private final List<Report> reports;
  /** Number of wanting a monitor; the numbers after it are of having it, and of releasing it. -1: none. */
  private final int monitors;
  private final Hook hook;
  private Label begin;

  PlaceChange(MethodVisitor to, ClassChanges.Change type, int access, String descriptor, List<Report> reports,
      int monitors, Hook hook) {
    super(ASM9, to);
    this.type = type;
    this.isStatic = (access & ACC_STATIC) != 0;
    this.result = Type.getReturnType(descriptor);
    this.reports = reports;
    this.monitors = monitors;
    this.hook = hook;
  }

  @Override
  public void visitCode() {
    super.visitCode();
    boolean isSpan = false;
    for (Report report : reports) {
      isSpan |= report.isSpan();
      Role role = report.role;
      if (role == null || role == Role.ACQUIRE || role == Role.RELEASE || role == Role.RUN) {
        about(report.first, report.field);
      } else if (role == Role.REQUEST) {
        push(report.first);
        hook(Hook.PLAIN);
      } else if (role == Role.BEFORE) {
        about(report.first, null);
        argument(2, report.second);
      } else {
        argument(1, report.first);
      }
    }
    if (isSpan) {
      begin = new Label();
      visitLabel(begin);
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode >= IRETURN && opcode <= RETURN) {
      for (Report report : reports) {
        if (report.isSpan()) {
          end(report);
        } else if (report.role == Role.ACQUIRE) {
          acquired(report.second, report.field, opcode);
        }
      }
    } else if ((opcode == MONITORENTER || opcode == MONITOREXIT) && monitors >= 0) {
      type.isChange = true;
      super.visitInsn(DUP);
      if (opcode == MONITORENTER) {
        super.visitInsn(DUP);
        push(monitors);
        hook(Hook.WITH_OBJECT);
        super.visitInsn(opcode);
        push(monitors + 1);
        hook(Hook.WITH_OBJECT);
        return;
      }
      push(monitors + 2);
      hook(Hook.WITH_OBJECT);
    }
    super.visitInsn(opcode);
  }

  private void end(Report report) {
    if (report.role == Role.REQUEST) {
      push(report.second);
      hook(Hook.PLAIN);
    } else {
      about(report.second, null);
    }
  }

  /** Reports acquired or failed, by the result on the stack. */
  private void acquired(int failed, String field, int opcode) {
    if (opcode == IRETURN && result.getSort() == Type.BOOLEAN || opcode == ARETURN) {
      super.visitInsn(DUP);
      if (opcode == ARETURN) {
        super.visitTypeInsn(INSTANCEOF, "java/lang/Object");
      }
      push(failed);
      super.visitInsn(IADD);
      own(field);
      super.visitInsn(SWAP);
      hook(Hook.WITH_OBJECT);
    } else {
      about(failed + 1, field);
    }
  }

  @Override
  public void visitMaxs(int maxStack, int maxLocals) {
    if (begin != null) {
      Label end = new Label();
      visitLabel(end);
      // The last handler, after the method's own ones.
      visitTryCatchBlock(begin, end, end, null);
      if (type.hasFrames) {
        Object[] locals = isStatic ? new Object[0] : new Object[] {type.internalName};
        visitFrame(F_FULL, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
      }
      for (Report report : reports) {
        if (report.isSpan()) {
          end(report);
        }
      }
      super.visitInsn(ATHROW);
    }
    super.visitMaxs(maxStack + STACK, maxLocals);
  }

  /** Pushes the object that a method belongs to, its class, or what a field of it has. */
  private void own(String field) {
    if (isStatic) {
      super.visitLdcInsn(Type.getObjectType(type.internalName));
    } else {
      super.visitVarInsn(ALOAD, 0);
    }
    if (field != null) {
      int space = field.indexOf(' ');
      super.visitFieldInsn(GETFIELD, type.internalName, field.substring(0, space), field.substring(space + 1));
    }
  }

  private void about(int number, String field) {
    own(field);
    push(number);
    hook(Hook.WITH_OBJECT);
  }

  private void argument(int local, int number) {
    super.visitVarInsn(ALOAD, local);
    push(number);
    hook(Hook.WITH_OBJECT);
  }

  private void hook(String descriptor) {
    super.visitMethodInsn(INVOKESTATIC, Hook.NAME, "enter", descriptor, false);
  }

  private void push(int number) {
    super.visitLdcInsn(hook.number(number));
  }
}
