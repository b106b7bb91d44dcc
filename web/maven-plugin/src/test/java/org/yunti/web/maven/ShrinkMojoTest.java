package org.yunti.web.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.plugin.AbstractMojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShrinkMojoTest {
  @TempDir
  Path folder;

  private ShrinkMojo mojo() throws IOException {
    Files.createDirectories(folder.resolve("templates"));
    Files.writeString(folder.resolve("templates/page.vm"), "<p>   $x   </p>");
    ShrinkMojo mojo = new ShrinkMojo();
    mojo.source = folder.resolve("templates").toFile();
    mojo.output = folder.resolve("classes").toFile();
    mojo.whiteSpace = true;
    mojo.charset = "UTF-8";
    mojo.suffix = ".vm";
    return mojo;
  }

  @Test
  void shrinksTemplatesIntoTheClasses() throws IOException, AbstractMojoExecutionException {
    mojo().execute();
    assertEquals("<p> $x </p>", Files.readString(folder.resolve("classes/page.vm")));
    ShrinkMojo blocks = mojo();
    blocks.blocks = true;
    blocks.execute();
    assertEquals("<p>$x</p>", Files.readString(folder.resolve("classes/page.vm")));
  }

  @Test
  void skipsOnRequest() throws IOException, AbstractMojoExecutionException {
    ShrinkMojo mojo = mojo();
    mojo.skip = true;
    mojo.execute();
    assertFalse(Files.exists(folder.resolve("classes")));
  }

  @Test
  void reportsWrongSettings() throws IOException {
    ShrinkMojo mojo = mojo();
    mojo.charset = "x-none";
    assertEquals("x-none is not a charset of this Java (yunti.shrink.charset)",
        assertThrows(MojoFailureException.class, mojo::execute).getMessage());
    ShrinkMojo nowhere = mojo();
    nowhere.source = folder.resolve("none").toFile();
    assertTrue(assertThrows(MojoFailureException.class, nowhere::execute).getMessage().contains("is not a folder"));
  }

  @Test
  void describesTheGoalToMaven() throws IOException {
    try (InputStream in = ShrinkMojo.class.getResourceAsStream("/META-INF/maven/plugin.xml")) {
      String descriptor = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(descriptor.contains("<goal>shrink</goal>") && descriptor.contains("<phase>process-resources</phase>"));
    }
  }
}
