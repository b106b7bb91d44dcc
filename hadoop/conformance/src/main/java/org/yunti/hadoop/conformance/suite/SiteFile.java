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
 * Class loader in which mapred-site.xml holds given settings. Some programs discard the configuration that {@code -D}
 * sets and create a new one, which reads the site file on the class path.
 */
final class SiteFile extends ClassLoader implements AutoCloseable {
  private static final String NAME = "mapred-site.xml";

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final Path file;

  /** Takes effect for this thread and the threads it starts, until closed. */
  SiteFile(Map<String, String> settings) throws IOException {
    super(Thread.currentThread().getContextClassLoader());
    Configuration site = new Configuration(false);
    settings.forEach(site::set);
    file = Files.createTempFile("site", ".xml");
    // Deleted at exit, not at close: a local job's thread cleans up with this loader after the job is reported as done.
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
