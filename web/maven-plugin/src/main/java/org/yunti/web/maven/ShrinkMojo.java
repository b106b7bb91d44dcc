package org.yunti.web.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.Properties;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.yunti.web.shrink.ShrinkOptions;
import org.yunti.web.shrink.Shrinker;
import org.yunti.web.shrink.TemplateFolder;
import org.yunti.web.shrink.report.ShrinkReport;
import org.yunti.web.shrink.vtl.ShrinkException;

/**
 * Goal that writes smaller templates of a folder into the classes of the build, after the resources plugin has copied
 * them unchanged.
 */
@Mojo(name = "shrink", defaultPhase = LifecyclePhase.PROCESS_RESOURCES, threadSafe = true)
public final class ShrinkMojo extends AbstractMojo {
  /** Root folder of the templates for #parse. */
  @Parameter(property = "yunti.shrink.source", defaultValue = "${project.basedir}/src/main/resources/templates")
  File source;

  /** Folder of the smaller templates; files of the same names are replaced. */
  @Parameter(property = "yunti.shrink.output", defaultValue = "${project.build.outputDirectory}/templates")
  File output;

  /** Skips the goal if true. */
  @Parameter(property = "yunti.shrink.skip", defaultValue = "false")
  boolean skip;

  /** Replaces each run of blanks by one, or removes it where it is never visible. */
  @Parameter(property = "yunti.shrink.whiteSpace", defaultValue = "true")
  boolean whiteSpace;

  /**
   * Also removes blanks at the edges of div, p, li and similar elements; leave it off if a style sheet makes them
   * inline.
   */
  @Parameter(property = "yunti.shrink.blocks", defaultValue = "false")
  boolean blocks;

  /** Sends only the values of loops marked {@code ## yunti:client-loop}. */
  @Parameter(property = "yunti.shrink.clientLoops", defaultValue = "false")
  boolean clientLoops;

  /** Charset of the templates. */
  @Parameter(property = "yunti.shrink.charset", defaultValue = "UTF-8")
  String charset;

  /** Ending of template names; other files are copied. */
  @Parameter(property = "yunti.shrink.suffix", defaultValue = ".vm")
  String suffix;

  /** The application's Velocity properties. */
  @Parameter
  Properties properties;

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    if (skip) {
      getLog().info("skipped (yunti.shrink.skip)");
      return;
    }
    try {
      ShrinkOptions options = ShrinkOptions.none().whiteSpace(whiteSpace).clientLoops(clientLoops)
          .charset(charsetOfTemplates()).suffix(suffix)
          .properties(properties == null ? new Properties() : properties);
      options = blocks ? options.blocks(true) : options;
      TemplateFolder folder = new TemplateFolder(source.toPath(), options);
      var shrunk = new Shrinker(options).shrink(folder.sources());
      folder.write(output.toPath(), shrunk);
      for (String line : new ShrinkReport(shrunk).lines()) {
        if (line.startsWith("note: ")) {
          getLog().warn(line.substring(6));
        } else {
          getLog().info(line);
        }
      }
    } catch (ShrinkException e) {
      throw new MojoFailureException(e.getMessage());
    } catch (IOException e) {
      throw new MojoExecutionException("templates cannot be shrunk: " + e.getMessage(), e);
    }
  }

  private Charset charsetOfTemplates() throws MojoFailureException {
    try {
      return Charset.forName(charset);
    } catch (IllegalArgumentException e) {
      throw new MojoFailureException(charset + " is not a charset of this Java (yunti.shrink.charset)");
    }
  }
}
