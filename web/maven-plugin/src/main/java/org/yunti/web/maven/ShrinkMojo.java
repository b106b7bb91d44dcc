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
import org.yunti.web.shrink.ShrinkException;
import org.yunti.web.shrink.ShrinkOptions;
import org.yunti.web.shrink.ShrinkReport;
import org.yunti.web.shrink.Shrinker;
import org.yunti.web.shrink.TemplateFolder;

/**
 * Writes the templates of a folder into the classes of the build, smaller, behind the resources plug-in, which has copied them as they
 * are.
 */
@Mojo(name = "shrink", defaultPhase = LifecyclePhase.PROCESS_RESOURCES, threadSafe = true)
public final class ShrinkMojo extends AbstractMojo {
  /** The folder that #parse counts from. */
  @Parameter(property = "yunti.shrink.source", defaultValue = "${project.basedir}/src/main/resources/templates")
  File source;

  /** Where the smaller templates go; files there of the same names are replaced. */
  @Parameter(property = "yunti.shrink.output", defaultValue = "${project.build.outputDirectory}/templates")
  File output;

  /** Whether anything is done. */
  @Parameter(property = "yunti.shrink.skip", defaultValue = "false")
  boolean skip;

  /** Runs of blanks become one, or none where they can never be seen. */
  @Parameter(property = "yunti.shrink.whiteSpace", defaultValue = "true")
  boolean whiteSpace;

  /** None at the edges of div, p, li and the like either, unless a style sheet makes them inline. */
  @Parameter(property = "yunti.shrink.blocks", defaultValue = "false")
  boolean blocks;

  /** Sends the values alone of loops that are marked {@code ## yunti:client-loop}. */
  @Parameter(property = "yunti.shrink.clientLoops", defaultValue = "false")
  boolean clientLoops;

  /** Of the templates. */
  @Parameter(property = "yunti.shrink.charset", defaultValue = "UTF-8")
  String charset;

  /** The ending of names of templates; other files are copied. */
  @Parameter(property = "yunti.shrink.suffix", defaultValue = ".vm")
  String suffix;

  /** Velocity's, as the application has them. */
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
      throw new MojoFailureException(charset + " is no charset of this Java");
    }
  }
}
