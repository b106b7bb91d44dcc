package org.yunti.hadoop.runner.attempt;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.hadoop.ipc.ProtocolSignature;
import org.apache.hadoop.mapred.AMFeedback;
import org.apache.hadoop.mapred.MapTaskCompletionEventsUpdate;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * Line from an attempt to its job, in the same JVM. The job reads the attempt's status from here, so nothing is sent.
 *
 * <p>A proxy, because Hadoop's interface has types that only its own package can name.
 */
public final class AttemptUmbilical implements InvocationHandler {
  /** Answers of the job. */
  public interface Job {
    /** Returns true if this attempt may commit its output; no other attempt of the task may then. */
    boolean mayCommit(TaskAttemptID attempt);
  }

  private final Job job;
  private volatile TaskStatus status;

  public AttemptUmbilical(Job job) {
    this.job = job;
  }

  /** Returns the line for Hadoop's task. */
  public TaskUmbilicalProtocol line() {
    return (TaskUmbilicalProtocol) Proxy.newProxyInstance(
        TaskUmbilicalProtocol.class.getClassLoader(), new Class<?>[] {TaskUmbilicalProtocol.class}, this);
  }

  /** Returns the other end of a line. */
  public static AttemptUmbilical of(TaskUmbilicalProtocol line) {
    return (AttemptUmbilical) Proxy.getInvocationHandler(line);
  }

  /** Returns the attempt's status, or null before it runs. The attempt goes on changing its counters. */
  public TaskStatus status() {
    return status;
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    switch (method.getName()) {
      case "statusUpdate":
        update((TaskStatus) arguments[1]);
        AMFeedback feedback = new AMFeedback();
        feedback.setTaskFound(true);
        return feedback;
      case "commitPending":
        update((TaskStatus) arguments[1]);
        return null;
      case "canCommit":
        return mayCommit((TaskAttemptID) arguments[0]);
      case "getMapCompletionEvents":
        // Reduces know the files of all maps when they start.
        return new MapTaskCompletionEventsUpdate(TaskCompletionEvent.EMPTY_ARRAY, false);
      case "getProtocolVersion":
        return TaskUmbilicalProtocol.versionID;
      case "getProtocolSignature":
        return new ProtocolSignature(TaskUmbilicalProtocol.versionID, null);
      case "hashCode":
        return System.identityHashCode(proxy);
      case "equals":
        return proxy == arguments[0];
      case "toString":
        return "umbilical";
      default:
        // done, preempted, checkpoints, bad records, messages of failures: the end of the attempt's thread says it.
        return null;
    }
  }

  private void update(TaskStatus newStatus) {
    if (newStatus != null) {
      status = newStatus;
    }
  }

  private boolean mayCommit(TaskAttemptID attempt) {
    if (!job.mayCommit(attempt)) {
      // Hadoop's task would ask again for ever, and ends the JVM after some exceptions.
      throw new Cancelled(attempt.toString());
    }
    return true;
  }
}
