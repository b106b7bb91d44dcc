package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;
import org.yunti.observe.trace.code.Places.About;
import org.yunti.observe.trace.code.Places.Place;
import org.yunti.observe.trace.code.Places.Role;

/**
 * Adds reports of events to a method: at its begin, at its ends, and around its monitors.
 *
 * <pre>
 *   acquire        want(this); try { .. ; result ? acquired(this) : failed(this); return }
 *                  catch (any e) { failed(this); throw e }
 *   synchronized   acquired(this); try { .. released(this); return } catch (any e) { released(this); throw e }
 *   monitorenter   want(o); monitorenter o; acquired(o)
 *   monitorexit    released(o); monitorexit o
 *   o.wait()       released(o); o.wait(); acquired(o)
 * </pre>
 *
 * What begins first ends last. It adds no branches and no local variables, so the method's stack map frames stay valid.
 * A result becomes part of the number: the number of failed, plus 1 for a result that is true, not null or not 0.
 */
final class PlaceChange extends MethodVisitor {
  /** Stack slots that are added. */
  private static final int STACK = 10;

  /**
   * Report of a method.
   *
   * @param role null: the monitor of a synchronized method, from {@code first} to {@code second}
   * @param place place with the object that it is about; null: the monitor
   */
  record Report(Role role, int first, int second, Place place) {
    Report(Role role, int first, int second) {
      this(role, first, second, null);
    }

    /** Returns true if an exception ends it too. */
    boolean isSpan() {
      return role == null || switch (role) {
        case ACQUIRE, SHARE, AWAIT, HOLD, RUN, REQUEST, REQUEST_OR_PART, PART -> true;
        case UNITS, RELEASE, SUBMIT, SCHEDULE, BEFORE, AFTER, BEGIN, DONE, DONE_IF, NAME -> false;
      };
    }

    boolean acquires() {
      return role == Role.ACQUIRE || role == Role.SHARE;
    }

    boolean isOfRequest() {
      return role == Role.REQUEST || role == Role.REQUEST_OR_PART || role == Role.PART;
    }

    About about() {
      return place == null ? About.SELF : place.about();
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
      about(report.first, report.about());
      return;
    }
    switch (report.role) {
      case ACQUIRE, SHARE, AWAIT, SUBMIT, SCHEDULE, AFTER, RUN, REQUEST, REQUEST_OR_PART, PART, BEGIN, DONE, NAME ->
          about(report.first, report.about());
      case DONE_IF -> {
        own(report.about());
        push(report.first);
        super.visitVarInsn(ALOAD, local(2));
        super.visitTypeInsn(INSTANCEOF, report.place.last());
        super.visitInsn(IADD);
        hook(Hook.WITH_OBJECT);
      }
      case RELEASE, HOLD -> {
        if (report.place.hasKey()) {
          super.visitVarInsn(ALOAD, report.place.slot());
          pair(report.first, report.about());
        } else {
          about(report.first, report.about());
        }
      }
      case UNITS -> {
        super.visitVarInsn(ILOAD, report.place.slot());
        super.visitMethodInsn(INVOKESTATIC, "java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;", false);
        report(report.first);
      }
      case BEFORE -> {
        about(report.first, About.SELF);
        about(report.second, report.about());
      }
    }
  }

  @Override
  public void visitInsn(int opcode) {
    if (opcode >= IRETURN && opcode <= RETURN) {
      for (int i = reports.size() - 1; i >= 0; i--) {
        Report report = reports.get(i);
        if (report.acquires()) {
          acquired(report, opcode);
        } else if (report.isSpan()) {
          end(report);
        }
      }
    } else if ((opcode == MONITORENTER || opcode == MONITOREXIT) && monitors >= 0) {
      type.isChange = true;
      super.visitInsn(DUP);
      if (opcode == MONITORENTER) {
        super.visitInsn(DUP);
        report(monitors);
        super.visitInsn(opcode);
        report(monitors + 1);
        return;
      }
      report(monitors + 2);
    }
    super.visitInsn(opcode);
  }

  /** Reports that the monitor of an object is given back while a thread waits for a notification. */
  @Override
  public void visitMethodInsn(int opcode, String owner, String method, String descriptor, boolean isInterface) {
    boolean isTimed = descriptor.equals("(J)V");
    if (monitors < 0 || opcode != INVOKEVIRTUAL || !method.equals("wait") || !isTimed && !descriptor.equals("()V")) {
      super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
      return;
    }
    type.isChange = true;
    if (isTimed) {
      // object, time -> time, object
      super.visitInsn(DUP2_X1);
      super.visitInsn(POP2);
    }
    super.visitInsn(DUP);
    super.visitInsn(DUP);
    report(monitors + 2);
    if (isTimed) {
      // time, object, object -> object, object, time
      super.visitInsn(DUP2_X2);
      super.visitInsn(POP2);
    }
    super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
    report(monitors + 1);
  }

  /** Reports the end of a span, at a return or by an exception. */
  private void end(Report report) {
    if (report.role == Role.HOLD) {
      super.visitVarInsn(ALOAD, report.place.slot());
      pair(report.second, report.about());
    } else {
      about(report.second, report.isOfRequest() ? About.NONE : report.about());
    }
  }

  /** Reports acquired or failed, by the result on the stack: failed is 1 less. */
  private void acquired(Report report, int opcode) {
    if (report.place.hasKey()) {
      if (report.place.slot() == Places.RESULT) {
        super.visitInsn(DUP);
      } else {
        super.visitVarInsn(ALOAD, report.place.slot());
      }
      pair(report.second + 1, report.about());
      return;
    }
    switch (opcode) {
      case ARETURN -> {
        super.visitInsn(DUP);
        super.visitTypeInsn(INSTANCEOF, "java/lang/Object");
      }
      case LRETURN -> {
        super.visitInsn(DUP2);
        super.visitInsn(LCONST_0);
        super.visitInsn(LCMP);
        super.visitInsn(ICONST_1);
        super.visitInsn(IAND);
      }
      case IRETURN -> super.visitInsn(result.getSort() == Type.BOOLEAN ? DUP : ICONST_1);
      default -> super.visitInsn(ICONST_1);
    }
    push(report.second);
    super.visitInsn(IADD);
    own(report.about());
    super.visitInsn(SWAP);
    hook(Hook.WITH_OBJECT);
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
      for (int i = reports.size() - 1; i >= 0; i--) {
        if (reports.get(i).isSpan()) {
          end(reports.get(i));
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
      if (report.role == Role.RUN && report.about().argument() > 0) {
        // Library methods with a task as argument: all their arguments are objects.
        for (Type parameter : parameters) {
          locals.add(parameter.getInternalName());
        }
        break;
      }
    }
    return locals.toArray();
  }

  /** Pushes the object that an event is about. */
  private void own(About about) {
    if (about.argument() > 0) {
      super.visitVarInsn(ALOAD, local(about.argument()));
    } else if (isStatic) {
      super.visitLdcInsn(Type.getObjectType(type.internalName));
    } else {
      super.visitVarInsn(ALOAD, 0);
    }
    if (about.isMethod()) {
      super.visitMethodInsn(INVOKEINTERFACE, about.owner(), about.member(), about.type(), true);
    } else if (about.member() != null) {
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
    report(number);
  }

  /** Reports an array of the object that it is about and the object on the stack, which has the key. */
  private void pair(int number, About about) {
    super.visitInsn(ICONST_2);
    super.visitTypeInsn(ANEWARRAY, "java/lang/Object");
    super.visitInsn(DUP_X1);
    super.visitInsn(SWAP);
    super.visitInsn(ICONST_1);
    super.visitInsn(SWAP);
    super.visitInsn(AASTORE);
    super.visitInsn(DUP);
    super.visitInsn(ICONST_0);
    own(about);
    super.visitInsn(AASTORE);
    report(number);
  }

  /** Returns the local variable of an argument, which count from 1 on. */
  private int local(int argument) {
    int local = isStatic ? 0 : 1;
    for (int i = 0; i < argument - 1; i++) {
      local += parameters[i].getSize();
    }
    return local;
  }

  /** Reports the object on the stack. */
  private void report(int number) {
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
