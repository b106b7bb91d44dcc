package org.yunti.web.loaders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of class loading: one loader for all, a server's tree of loaders, the module path. */
class LoadersTest {
  @TempDir
  Path folder;

  private static List<Path> classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of).toList();
  }

  private static boolean isOurs(Path entry) {
    return entry.endsWith("classes");
  }

  private static boolean isTests(Path entry) {
    return entry.endsWith("test-classes");
  }

  private static URL[] urls(List<Path> entries) throws IOException {
    List<URL> urls = new ArrayList<>();
    for (Path entry : entries) {
      urls.add(entry.toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  /** Returns the page of {@link PageMain}, loaded by a loader. */
  private static String page(ClassLoader loader) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      Class<?> main = Class.forName(PageMain.class.getName(), true, loader);
      assertEquals(loader, main.getClassLoader());
      return (String) main.getMethod("page").invoke(null);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void rendersInASeparateLoader() throws Exception {
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader all = new URLClassLoader(urls(classPath()), platform)) {
      assertEquals(PageMain.PAGE, page(all));
    }
  }

  @Test
  void rendersWithVelocityInTheServersLoader() throws Exception {
    List<Path> shared = classPath().stream().filter(e -> !isOurs(e) && !isTests(e)).toList();
    List<Path> own = classPath().stream().filter(e -> isOurs(e) || isTests(e)).toList();
    try (URLClassLoader server = new URLClassLoader(urls(shared), ClassLoader.getPlatformClassLoader());
        URLClassLoader application = new URLClassLoader(urls(own), server)) {
      assertEquals(PageMain.PAGE, page(application));
    }
  }

  @Test
  void rendersWithOnlyTheModelInTheApplicationsLoader() throws Exception {
    List<Path> shared = classPath().stream().filter(e -> !isTests(e)).toList();
    List<Path> own = classPath().stream().filter(LoadersTest::isTests).toList();
    try (URLClassLoader server = new URLClassLoader(urls(shared), ClassLoader.getPlatformClassLoader());
        URLClassLoader application = new URLClassLoader(urls(own), server)) {
      assertEquals(PageMain.PAGE, page(application));
    }
  }

  /** Makes the jar as the build does. */
  private Path jar(Path classes) throws IOException {
    Path jar = folder.resolve("yunti-velocity.jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Automatic-Module-Name", "org.yunti.velocity");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest);
        Stream<Path> all = Files.walk(classes)) {
      for (Path path : all.filter(Files::isRegularFile).toList()) {
        out.putNextEntry(new JarEntry(classes.relativize(path).toString().replace('\\', '/')));
        Files.copy(path, out);
      }
    }
    return jar;
  }

  @Test
  void rendersOnTheModulePath() throws Exception {
    List<String> modules = new ArrayList<>();
    modules.add(jar(classPath().stream().filter(LoadersTest::isOurs).findFirst().orElseThrow()).toString());
    for (Path entry : classPath()) {
      String name = entry.getFileName().toString();
      if (name.startsWith("velocity-engine") || name.startsWith("asm-") || name.startsWith("slf4j-api")
          || name.startsWith("commons-lang3")) {
        modules.add(entry.toString());
      }
    }
    Path tests = classPath().stream().filter(LoadersTest::isTests).findFirst().orElseThrow();
    Process java = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin/java").toString(), "--module-path",
        String.join(File.pathSeparator, modules), "--add-modules", "ALL-MODULE-PATH", "-cp", tests.toString(),
        PageMain.class.getName())
        .redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String page = new String(java.getInputStream().readAllBytes()).strip();
    java.waitFor(60, TimeUnit.SECONDS);
    assertEquals(PageMain.PAGE + " in module org.yunti.velocity", page);
  }
}
