package org.yunti.hadoop.conformance.suite;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * A class loader in which mapred-site.xml holds given settings. Some programs throw away the configuration that
 * {@code -D} has reached and make a new one; what they then find is the site file on the class path.
 */
final class SiteFile extends ClassLoader implements AutoCloseable {
  private static final String NAME = "mapred-site.xml";

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final Path file;

  /** Is in force for this thread, and those it starts, until it is closed. */
  SiteFile(Map<String, String> settings) throws IOException {
    super(Thread.currentThread().getContextClassLoader());
    Configuration site = new Configuration(false);
    settings.forEach(site::set);
    file = Files.createTempFile("site", ".xml");
    // Not at close: the thread of a local job tidies up, with this loader, after the job is said to be done.
    file.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(file)) {
      site.writeXml(out);
    }
    Thread.currentThread().setContextClassLoader(this);
  }

  @Override
  public URL getResource(String name) {
    try {
      return name.equals(NAME) ? new File(file.toString()).toURI().toURL() : super.getResource(name);
    } catch (MalformedURLException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Thread.currentThread().setContextClassLoader(before);
  }
}
