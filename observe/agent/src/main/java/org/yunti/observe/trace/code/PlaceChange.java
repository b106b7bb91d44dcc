package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;
import org.yunti.observe.trace.code.Places.About;
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
   * @param about null: the object itself
   * @param last class for {@link Role#DONE_IF}
   */
  record Report(Role role, int first, int second, About about, String last) {
    Report(Role role, int first, int second) {
      this(role, first, second, null, null);
    }

    /** Returns true if an exception ends it too. */
    boolean isSpan() {
      return role == null || role == Role.RUN || isOfRequest();
    }

    boolean isOfRequest() {
      return role == Role.REQUEST || role == Role.REQUEST_OR_PART || role == Role.PART;
    }
  }

  private final ClassChanges.Change type;
  private final boolean isStatic;
  private final Type result;
  private final Type[] parameters;
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
    this.parameters = Type.getArgumentTypes(descriptor);
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
      begin(report);
    }
    if (isSpan) {
      begin = new Label();
      visitLabel(begin);
    }
  }

  private void begin(Report report) {
    if (report.role == null) {
      about(report.first, report.about);
      return;
    }
    switch (report.role) {
      case ACQUIRE, RELEASE, RUN, REQUEST, REQUEST_OR_PART, PART, BEGIN, DONE, NAME ->
          about(report.first, report.about);
      case DONE_IF -> {
        own(report.about);
        push(report.first);
        super.visitVarInsn(ALOAD, local(2));
        super.visitTypeInsn(INSTANCEOF, report.last);
        super.visitInsn(IADD);
        hook(Hook.WITH_OBJECT);
      }
      case BEFORE -> {
        about(report.first, null);
        argument(2, report.second);
      }
      case SUBMIT, AFTER, SCHEDULE -> argument(1, report.first);
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode >= IRETURN && opcode <= RETURN) {
      for (Report report : reports) {
        if (report.isSpan()) {
          end(report);
        } else if (report.role == Role.ACQUIRE) {
          acquired(report.second, report.about, opcode);
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
    about(report.second, report.isOfRequest() ? About.NONE : report.about);
  }

  /** Reports acquired or failed, by the result on the stack. */
  private void acquired(int failed, About about, int opcode) {
    if (opcode == IRETURN && result.getSort() == Type.BOOLEAN || opcode == ARETURN) {
      super.visitInsn(DUP);
      if (opcode == ARETURN) {
        super.visitTypeInsn(INSTANCEOF, "java/lang/Object");
      }
      push(failed);
      super.visitInsn(IADD);
      own(about);
      super.visitInsn(SWAP);
      hook(Hook.WITH_OBJECT);
    } else {
      about(failed + 1, about);
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
        Object[] locals = locals();
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

  /** Returns the local variables of the last handler: the object, and the arguments if the reports need them. */
  private Object[] locals() {
    List<Object> locals = new ArrayList<>();
    if (!isStatic) {
      locals.add(type.internalName);
    }
    for (Report report : reports) {
      if (report.role == Role.RUN && report.about != null) {
        // Library methods with a task as argument: all their arguments are objects.
        for (Type parameter : parameters) {
          locals.add(parameter.getInternalName());
        }
        break;
      }
    }
    return locals.toArray();
  }

  /** Pushes the object that an event is about; null: the object of the method, or its class. */
  private void own(About about) {
    int argument = about == null ? 0 : about.argument();
    if (argument > 0) {
      super.visitVarInsn(ALOAD, local(argument));
    } else if (isStatic) {
      super.visitLdcInsn(Type.getObjectType(type.internalName));
    } else {
      super.visitVarInsn(ALOAD, 0);
    }
    if (about != null && about.isMethod()) {
      super.visitMethodInsn(INVOKEINTERFACE, about.owner(), about.member(), about.type(), true);
    } else if (about != null && about.member() != null) {
      super.visitFieldInsn(GETFIELD, about.owner() == null ? type.internalName : about.owner(), about.member(),
          about.type());
    }
  }

  private void about(int number, About about) {
    if (about == About.NONE) {
      push(number);
      hook(Hook.PLAIN);
      return;
    }
    own(about);
    push(number);
    hook(Hook.WITH_OBJECT);
  }

  private void argument(int number, int place) {
    super.visitVarInsn(ALOAD, local(number));
    push(place);
    hook(Hook.WITH_OBJECT);
  }

  /** Returns the local variable of an argument, which count from 1 on. */
  private int local(int argument) {
    int local = isStatic ? 0 : 1;
    for (int i = 0; i < argument - 1; i++) {
      local += parameters[i].getSize();
    }
    return local;
  }

  private void hook(String descriptor) {
    super.visitMethodInsn(INVOKESTATIC, Hook.NAME, "enter", descriptor, false);
  }

  private void push(int number) {
    super.visitLdcInsn(hook.number(number));
  }
}
