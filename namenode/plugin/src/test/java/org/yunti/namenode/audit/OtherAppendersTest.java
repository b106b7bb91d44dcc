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
  void setUp() {
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
  void ignoresItsOwnFile() throws IOException {
    assertFalse(others().exist(1));
    logger.addAppender(new NullAppender());
    logger.addAppender(file("own"));
    logger.addAppender(file("./own"));
    assertFalse(others().exist(1));
  }

  @Test
  void findsALaterAppender() {
    OtherAppenders others = others();
    assertFalse(others.exist(1));
    logger.addAppender(writer);
    assertTrue(others.exist(2));
    others.append(2, "allowed=true");
    assertEquals("INFO allowed=true" + System.lineSeparator(), text.toString());
    logger.removeAppender(writer);
    assertFalse(others.exist(3));
  }

  @Test
  void respectsTheLevel() {
    logger.addAppender(writer);
    assertTrue(others().exist(1));
    logger.setLevel(Level.WARN);
    assertFalse(others().exist(2));
  }

  @Test
  void findsAppendersOfTheRoot() {
    Logger.getRootLogger().addAppender(writer);
    assertFalse(others().exist(1));
    logger.setAdditivity(true);
    assertTrue(others().exist(2));
  }

  /** An asynchronous appender of our own file: only its other parts get events. */
  @Test
  void unwrapsAnAsynchronousAppender() throws IOException {
    AsyncAppender async = new AsyncAppender();
    async.addAppender(file("own"));
    logger.addAppender(async);
    assertFalse(others().exist(1));
    async.addAppender(writer);
    OtherAppenders others = others();
    assertTrue(others.exist(2));
    others.append(2, "one");
    assertEquals("INFO one" + System.lineSeparator(), text.toString());
  }
}
