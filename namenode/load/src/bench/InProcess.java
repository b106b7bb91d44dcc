import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedExceptionAction;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.ipc.ExternalCall;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Load from threads inside a NameNode's process: throughput of its locks, queue and logs, without sockets and protobuf.
 *
 * <p>{@code yunti nn bench --cures} runs it from its source (JEP 330), with the configuration on the class path and a
 * formatted name space. For each input line {@code SECONDS READS-PERCENT direct|queue} it prints a line
 * {@code CALLS SECONDS CPU-SECONDS}. It ends with its input. With {@code direct}, each thread runs its calls itself, as
 * a handler does. With {@code queue}, it puts them into the call queue and waits for a handler.
 */
public final class InProcess {
  private static final int DIRECTORIES = 100;
  private static final int NAMES_A_DIRECTORY = 100;

  private InProcess() {}

  /** A call that counts as an RPC; the name system writes audit lines only for these. */
  private static final class Call<T> extends ExternalCall<T> {
    private final UserGroupInformation user;

    Call(UserGroupInformation user, PrivilegedExceptionAction<T> action) {
      super(action);
      this.user = user;
    }

    @Override
    public UserGroupInformation getRemoteUser() {
      return user;
    }

    @Override
    public String getHostAddress() {
      return "127.0.0.1";
    }

    @Override
    public java.net.InetAddress getHostInetAddress() {
      return java.net.InetAddress.getLoopbackAddress();
    }
  }

  public static void main(String[] words) throws Exception {
    int threads = Integer.parseInt(words[0]);
    Configuration conf = new HdfsConfiguration();
    NameNode namenode = NameNode.createNameNode(new String[0], conf);
    ClientProtocol calls = namenode.getRpcServer();
    UserGroupInformation user = UserGroupInformation.getCurrentUser();
    Server.getCurCall().set(new Call<>(user, () -> null));
    for (int directory = 0; directory < DIRECTORIES; directory++) {
      for (int name = 0; name < NAMES_A_DIRECTORY; name++) {
        calls.mkdirs(path(directory, name), FsPermission.getDirDefault(), true);
      }
    }
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] request = line.trim().split(" ");
      System.out.println(run(namenode, user, threads, Double.parseDouble(request[0]), Double.parseDouble(request[1]),
          request[2].equals("queue")));
    }
    System.exit(0);
  }

  private static String path(int directory, int name) {
    return "/base/d" + directory + "/f" + name;
  }

  private static String run(NameNode namenode, UserGroupInformation user, int count, double seconds,
      double readsPercent, boolean isQueued) throws Exception {
    LongAdder done = new LongAdder();
    AtomicBoolean isOver = new AtomicBoolean();
    String fresh = "/run-" + System.nanoTime();
    Thread[] threads = new Thread[count];
    long begun = System.nanoTime();
    long cpu = cpuNanos();
    for (int number = 0; number < count; number++) {
      String own = fresh + "/t" + number + "/";
      threads[number] = new Thread(() -> work(namenode, user, own, readsPercent, isQueued, isOver, done));
      threads[number].start();
    }
    Thread.sleep((long) (seconds * 1000));
    isOver.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    cpu = cpuNanos() - cpu;
    String answer = done.sum() + " " + (System.nanoTime() - begun) / 1e9 + " " + cpu / 1e9;
    namenode.getRpcServer().delete(fresh, true);
    return answer;
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static void work(NameNode namenode, UserGroupInformation user, String own, double readsPercent,
      boolean isQueued, AtomicBoolean isOver, LongAdder done) {
    ClientProtocol calls = namenode.getRpcServer();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    FsPermission permission = FsPermission.getDirDefault();
    try {
      for (long number = 0; !isOver.get(); number++) {
        String made = own + number;
        String known = path(random.nextInt(DIRECTORIES), random.nextInt(NAMES_A_DIRECTORY));
        boolean isRead = random.nextDouble() * 100 < readsPercent;
        PrivilegedExceptionAction<Object> action =
            () -> isRead ? calls.getFileInfo(known) : (Object) calls.mkdirs(made, permission, true);
        Call<Object> call = new Call<>(user, action);
        if (isQueued) {
          namenode.queueExternalCall(call);
          call.get();
        } else {
          Server.getCurCall().set(call);
          action.run();
        }
        done.increment();
      }
    } catch (Exception e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }
}
