package org.yunti.namenode.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import org.apache.log4j.Appender;
import org.apache.log4j.AsyncAppender;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;
import org.apache.log4j.varia.NullAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherAppendersTest {
  private static final PatternLayout LAYOUT = new PatternLayout("%p %m%n");
  private final Logger logger = Logger.getLogger("org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit");
  private final StringWriter text = new StringWriter();
  private final Appender writer = new WriterAppender(LAYOUT, text);
  @TempDir
  private Path folder;

  @BeforeEach
  void alone() {
    logger.setLevel(Level.INFO);
    logger.setAdditivity(false);
  }

  @AfterEach
  void putBack() {
    logger.removeAllAppenders();
    Logger.getRootLogger().removeAppender(writer);
    logger.setLevel(null);
    logger.setAdditivity(true);
  }

  private OtherAppenders others() {
    return new OtherAppenders(folder.resolve("own"));
  }

  private FileAppender file(String name) throws IOException {
    return new FileAppender(LAYOUT, folder.resolve(name).toString());
  }

  @Test
  void nobody() throws IOException {
    assertFalse(others().areThere(1));
    logger.addAppender(new NullAppender());
    logger.addAppender(file("own"));
    logger.addAppender(file("./own"));
    assertFalse(others().areThere(1));
  }

  @Test
  void whoComesLater() {
    OtherAppenders others = others();
    assertFalse(others.areThere(1));
    logger.addAppender(writer);
    assertTrue(others.areThere(2));
    others.append(2, "allowed=true");
    assertEquals("INFO allowed=true" + System.lineSeparator(), text.toString());
    logger.removeAppender(writer);
    assertFalse(others.areThere(3));
  }

  @Test
  void asTheLevelIs() {
    logger.addAppender(writer);
    assertTrue(others().areThere(1));
    logger.setLevel(Level.WARN);
    assertFalse(others().areThere(2));
  }

  @Test
  void thoseOfTheRoot() {
    Logger.getRootLogger().addAppender(writer);
    assertFalse(others().areThere(1));
    logger.setAdditivity(true);
    assertTrue(others().areThere(2));
  }

  /** Only what it has beside our own file. */
  @Test
  void anAsynchronousOne() throws IOException {
    AsyncAppender async = new AsyncAppender();
    async.addAppender(file("own"));
    logger.addAppender(async);
    assertFalse(others().areThere(1));
    async.addAppender(writer);
    OtherAppenders others = others();
    assertTrue(others.areThere(2));
    others.append(2, "one");
    assertEquals("INFO one" + System.lineSeparator(), text.toString());
  }
}
