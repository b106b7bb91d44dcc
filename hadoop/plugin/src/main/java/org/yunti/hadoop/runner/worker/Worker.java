package org.yunti.hadoop.runner.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.concurrent.SynchronousQueue;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ApplicationClassLoader;
import org.apache.hadoop.util.StringUtils;
import org.yunti.hadoop.runner.attempt.AttemptControl;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.TaskOrder;
import org.yunti.hadoop.runner.load.ClassPlan;
import org.yunti.hadoop.runner.load.JobClasses;
import org.yunti.hadoop.runner.record.AttemptOutput;
import org.yunti.hadoop.runner.task.TaskExecution;

/** Main program of a JVM that runs tasks of one job, one after the other. */
public final class Worker {
  private static final long STATE_MS = 250;

  private final DataInputStream in;
  private final DataOutputStream out;
  private final SynchronousQueue<Boolean> commits = new SynchronousQueue<>();
  private JobConf conf;
  private UserGroupInformation user;
  private File record;
  /** Null if all tasks have one loader. */
  private JobClasses classes;
  /** The job's jars are on the class path of this JVM, as on a cluster, unless the job wants a loader. */
  private ClassLoader loader = Worker.class.getClassLoader();

  private Worker(DataInputStream in, DataOutputStream out) {
    this.in = in;
    this.out = out;
  }

  public static void main(String[] arguments) {
    int code = 0;
    try {
      Worker worker = new Worker(new DataInputStream(new BufferedInputStream(Streams.fromJob())),
          new DataOutputStream(new BufferedOutputStream(Streams.toJob())));
      worker.serve();
    } catch (EOFException e) {
      // The job ended, or its JVM did.
    } catch (Throwable e) {
      e.printStackTrace();
      code = 1;
    }
    // Hooks of user code run, as at the end of a task's JVM on a cluster; threads of user code do not hold it.
    System.exit(code);
  }

  private void serve() throws IOException {
    while (true) {
      int kind = in.readUnsignedByte();
      if (kind == Frame.JOB) {
        readJob();
      } else if (kind == Frame.TASK) {
        TaskOrder order = new TaskOrder();
        order.readFields(in);
        Thread thread = new Thread(() -> run(order), order.id().toString());
        thread.setDaemon(true);
        thread.start();
      } else if (kind == Frame.COMMIT) {
        boolean may = in.readBoolean();
        try {
          commits.put(may);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      } else {
        throw new IOException("unknown message " + kind);
      }
    }
  }

  private void readJob() throws IOException {
    conf = new JobConf(false);
    conf.setQuietMode(false); // Without the file, tasks would run with other settings.
    conf.addResource(new Path(new File(Text.readString(in)).toURI()));
    String name = Text.readString(in);
    Credentials credentials = new Credentials();
    credentials.readFields(in);
    conf.setCredentials(credentials);
    user = UserGroupInformation.createRemoteUser(name);
    user.addCredentials(credentials);
    record = new File(Text.readString(in));
    ClassPlan plan = ClassPlan.read(in);
    if (in.readBoolean()) {
      classes = new JobClasses(plan, null);
    } else if (conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER, false)) {
      // The order of its classes is the one of a cluster's tasks: the job's jars, except for Hadoop's own classes.
      String[] hadoops = conf.getTrimmedStrings(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER_SYSTEM_CLASSES);
      loader = new ApplicationClassLoader(plan.jars(), Worker.class.getClassLoader(),
          hadoops.length == 0 ? null : Arrays.asList(hadoops));
    }
  }

  private void run(TaskOrder order) {
    ClassLoader own = classes == null ? loader : classes.take();
    Thread.currentThread().setContextClassLoader(own);
    AttemptOutput output = AttemptOutput.begin(new File(record, order.id().toString()));
    AttemptControl control = new AttemptControl(order.id(), order.bad(this::sendRecord));
    TaskExecution execution =
        new TaskExecution(order, conf, own, control, new AttemptUmbilical(attempt -> mayCommit()));
    Thread reports = new Thread(() -> report(execution, control), "yunti reports");
    reports.setDaemon(true);
    reports.start();
    String failure = null;
    try {
      user.doAs((PrivilegedExceptionAction<Void>) () -> {
        execution.run();
        return null;
      });
    } catch (Throwable e) {
      failure = "Error: " + StringUtils.stringifyException(e);
    }
    end(reports);
    output.close();
    if (classes != null) {
      classes.giveBack(own);
    }
    try {
      send(failure == null ? Frame.DONE : Frame.FAILED, execution.state(), failure, false);
    } catch (IOException e) {
      Runtime.getRuntime().halt(1); // The job is gone.
    }
  }

  /** Ends the reports of an attempt: a late one would be taken for the next attempt's. */
  private static void end(Thread reports) {
    Thread.interrupted(); // User code may have left it set.
    reports.interrupt();
    try {
      reports.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void report(TaskExecution execution, AttemptControl control) {
    try {
      while (true) {
        Thread.sleep(STATE_MS);
        send(Frame.STATE, execution.state(), null, control.takeProgress());
      }
    } catch (InterruptedException e) {
      // The attempt ended.
    } catch (IOException e) {
      Runtime.getRuntime().halt(1); // The job is gone.
    }
  }

  private synchronized void send(int kind, AttemptState state, String message, boolean progressed) throws IOException {
    out.writeByte(kind);
    state.write(out);
    if (kind == Frame.FAILED) {
      Text.writeString(out, message);
    } else if (kind == Frame.STATE) {
      out.writeBoolean(progressed);
    }
    out.flush();
  }

  private boolean mayCommit() {
    try {
      synchronized (this) {
        out.writeByte(Frame.MAY);
        out.flush();
      }
      return commits.take();
    } catch (IOException | InterruptedException e) {
      return false;
    }
  }
  /** Sends it at once: user code may end this JVM with this record. */
  private synchronized void sendRecord(long number) {
    try {
      out.writeByte(Frame.RECORD);
      out.writeLong(number);
      out.flush();
    } catch (IOException e) {
      Runtime.getRuntime().halt(1); // The job is gone.
    }
  }

}
