package org.yunti.namenode.audit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TimeZone;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.server.namenode.DefaultAuditLogger;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.log4j.Appender;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.RollingFileAppender;
import org.apache.log4j.spi.LoggingEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock's logger and appender, and ours, get the same events and must write the same lines. */
class SameAsStockTest {
  private static final String LOGGER = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";
  private static final PatternLayout LAYOUT = new PatternLayout("%d{ISO8601} %p %c{2}: %m%n");
  private static final String[] NAMES = {"/", "/a", null, "/with blank", "/tab\there", "/line\nend", "/\"quoted\"",
      "/back\\slash", "/käse", "/云梯", "/\uD83D\uDE00", "/del\u007f", "/nul\u0000", "/unit\u001f", "/slash/é/x",
      "/"
          + "long/".repeat(500)};

  /** Appender that keeps the events of stock's logger. */
  private static final class Kept extends AppenderSkeleton {
    final List<LoggingEvent> events = new ArrayList<>();

    @Override
    protected void append(LoggingEvent event) {
      events.add(event);
    }

    @Override
    public void close() {}

    @Override
    public boolean requiresLayout() {
      return false;
    }
  }

  private final TimeZone zone = TimeZone.getDefault();
  private final List<Appender> added = new ArrayList<>();

  @AfterEach
  void putBack() {
    TimeZone.setDefault(zone);
    added.forEach(Logger.getLogger(LOGGER)::removeAppender);
  }

  private <A extends Appender> A add(A appender) {
    Logger logger = Logger.getLogger(LOGGER);
    logger.setLevel(Level.INFO);
    logger.setAdditivity(false);
    logger.addAppender(appender);
    added.add(appender);
    return appender;
  }

  private static DefaultAuditLogger stock(Configuration conf) throws ReflectiveOperationException {
    Constructor<?> made = Class.forName("org.apache.hadoop.hdfs.server.namenode.FSNamesystem$FSNamesystemAuditLogger")
                              .getDeclaredConstructor();
    made.setAccessible(true);
    DefaultAuditLogger logger = (DefaultAuditLogger) made.newInstance();
    logger.initialize(conf);
    return logger;
  }

  private static Configuration configuration(Path folder, Random random) {
    Configuration conf = new Configuration(false);
    conf.set(AuditSettings.FILE_KEY, folder.resolve("ours-" + random.nextInt(Integer.MAX_VALUE)).toString());
    conf.setBoolean("hadoop.caller.context.enabled", random.nextBoolean());
    conf.setInt("hadoop.caller.context.max.size", random.nextInt(20) + 1);
    conf.setInt("hadoop.caller.context.signature.max.size", random.nextInt(10));
    conf.setBoolean("dfs.namenode.audit.log.token.tracking.id", random.nextBoolean());
    conf.set("dfs.namenode.audit.log.debug.cmdlist", random.nextBoolean() ? "open,delete" : "");
    return conf;
  }

  private static void log(DefaultAuditLogger logger, long seed) throws IOException {
    Random random = new Random(seed);
    String user = random.nextBoolean() ? "root (auth:SIMPLE)" : NAMES[random.nextInt(NAMES.length)];
    InetAddress address = switch (random.nextInt(3)) {
      case 0 -> null;
      case 1 -> InetAddress.getByAddress("host", new byte[] {127, 0, 0, (byte) random.nextInt()});
      default -> InetAddress.getByName("2001:db8::1");
    };
    String command = random.nextBoolean() ? "open" : "mkdirs";
    FileStatus status = random.nextInt(3) == 0
        ? null
        : new FileStatus(1, true, 1, 1, 1, 1,
              random.nextInt(9) == 0 ? null : new FsPermission((short) random.nextInt(01777 + 1)), "käse", "group",
              null, null);
    CallerContext context = random.nextInt(3) == 0
        ? null
        : new CallerContext.Builder(NAMES[random.nextInt(NAMES.length)])
              .setSignature(random.nextBoolean()
                      ? null
                      : "ab\tü".substring(0, random.nextInt(5)).getBytes(StandardCharsets.UTF_8))
              .build();
    UserGroupInformation ugi = UserGroupInformation.createRemoteUser("somebody");
    logger.logAuditEvent(random.nextBoolean(), user, address, command, NAMES[random.nextInt(NAMES.length)],
        NAMES[random.nextInt(NAMES.length)], status, context, ugi, null);
  }

  @Test
  void writesTheSameLines(@TempDir Path folder) throws Exception {
    Kept kept = add(new Kept());
    for (int seed = 0; seed < 150; seed++) {
      TimeZone.setDefault(
          TimeZone.getTimeZone(List.of("UTC", "Asia/Shanghai", "America/St_Johns", "GMT+05:30").get(seed % 4)));
      Configuration conf = configuration(folder, new Random(seed));
      DefaultAuditLogger stock = stock(conf);
      RingAuditLogger ours = new RingAuditLogger();
      ours.initialize(conf);
      kept.events.clear();
      for (int event = 0; event < 20; event++) {
        log(stock, seed * 1000L + event);
        log(ours, seed * 1000L + event);
      }
      ours.writer().end();
      StringBuilder expected = new StringBuilder();
      // Each event occurs twice: another appender gets the same event from our logger as from stock's.
      for (int event = 0; event < kept.events.size(); event += 2) {
        assertEquals(kept.events.get(event).getMessage(), kept.events.get(event + 1).getMessage(), "seed " + seed);
        expected.append(LAYOUT.format(kept.events.get(event)));
      }
      String got = Files.readString(Path.of(conf.get(AuditSettings.FILE_KEY)));
      // The two loggers read the clock in sequence, so milliseconds may differ.
      String time = "(?m)^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3} ";
      assertEquals(expected.toString().replaceAll(time, "TIME "), got.replaceAll(time, "TIME "), "seed " + seed);
    }
  }

  @Test
  void formatsTheSameTimes() {
    for (String id :
        List.of("UTC", "Asia/Shanghai", "America/St_Johns", "Europe/Berlin", "Pacific/Apia", "Asia/Calcutta")) {
      TimeZone.setDefault(TimeZone.getTimeZone(id));
      // A layout keeps the time zone of its creation.
      PatternLayout layout = new PatternLayout("%d{ISO8601} %p %c{2}: %m%n");
      AuditLine line = new AuditLine(100);
      Random random = new Random(id.hashCode());
      for (int number = 0; number < 5_000; number++) {
        long millis =
            number % 2 == 0 ? Math.floorMod(random.nextLong(), 4_102_444_800_000L) : 1_761_440_400_000L + number * 777L;
        AuditEvent event =
            new AuditEvent(millis, true, "u", null, "open", "/a", null, null, false, null, "rpc", null, null);
        Logger logger = Logger.getLogger(LOGGER);
        LoggingEvent stock = new LoggingEvent("x", logger, millis, Level.INFO, line.message(event), null);
        assertEquals(layout.format(stock), new String(line.bytes(event), StandardCharsets.UTF_8));
      }
    }
  }

  /** The same files, rotated ones included. */
  @Test
  void rotatesTheSameFiles(@TempDir Path folder) throws Exception {
    for (int backups : new int[] {0, 1, 3}) {
      Path own = Files.createDirectories(folder.resolve(String.valueOf(backups)));
      RollingFileAppender appender = new RollingFileAppender(LAYOUT, own.resolve("stock").toString());
      appender.setMaximumFileSize(2_000);
      appender.setMaxBackupIndex(backups);
      add(appender);
      AuditLine line = new AuditLine(100);
      Random random = new Random(backups);
      try (RollingFile file = new RollingFile(own.resolve("ours"), 2_000, backups)) {
        for (int number = 0; number < 200; number++) {
          String name = "/" + "x".repeat(random.nextInt(600));
          AuditEvent event =
              new AuditEvent(number, true, "u", null, "open", name, null, null, false, null, "rpc", null, null);
          Logger logger = Logger.getLogger(LOGGER);
          logger.callAppenders(new LoggingEvent("x", logger, number, Level.INFO, line.message(event), null));
          file.append(line.bytes(event));
          if (random.nextInt(4) == 0) {
            file.flush();
          }
        }
        file.flush();
      }
      Logger.getLogger(LOGGER).removeAppender(appender);
      appender.close();
      for (int number = 0; number <= backups + 1; number++) {
        String suffix = number == 0 ? "" : "." + number;
        assertEquals(Files.exists(own.resolve("stock" + suffix)), Files.exists(own.resolve("ours" + suffix)), suffix);
        if (Files.exists(own.resolve("stock" + suffix))) {
          assertArrayEquals(Files.readAllBytes(own.resolve("stock" + suffix)),
              Files.readAllBytes(own.resolve("ours" + suffix)), backups + suffix);
        }
      }
    }
  }
}
