package org.yunti.web.shrink;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * Options of shrinking. By default all steps are off.
 *
 * @param squeezesWhiteSpace replaces each run of blanks by one, or removes it where it is never visible
 * @param squeezesBlocks also removes blanks at the edges of div, p, li and similar elements; wrong if a style sheet
 *     makes them inline
 * @param expandsLoops sends only the values of rows of loops marked {@code ## yunti:client-loop}
 * @param charset charset of the templates
 * @param suffix ending of template names; other files are copied
 * @param properties the application's Velocity properties, for gobbling and directive names
 */
public record ShrinkOptions(boolean squeezesWhiteSpace, boolean squeezesBlocks, boolean expandsLoops, Charset charset,
    String suffix, Properties properties) {

  /** Returns options with all steps off, UTF-8 and the suffix {@code .vm}. */
  public static ShrinkOptions none() {
    return new ShrinkOptions(false, false, false, StandardCharsets.UTF_8, ".vm", new Properties());
  }

  /** Sets {@code squeezesWhiteSpace}. */
  public ShrinkOptions whiteSpace(boolean on) {
    return new ShrinkOptions(on, squeezesBlocks, expandsLoops, charset, suffix, properties);
  }

  /** Sets {@code squeezesBlocks}, and {@code squeezesWhiteSpace} if on. */
  public ShrinkOptions blocks(boolean on) {
    return new ShrinkOptions(squeezesWhiteSpace || on, on, expandsLoops, charset, suffix, properties);
  }

  /** Sets {@code expandsLoops}. */
  public ShrinkOptions clientLoops(boolean on) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, on, charset, suffix, properties);
  }

  /** Sets {@code charset}. */
  public ShrinkOptions charset(Charset other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, other, suffix, properties);
  }

  /** Sets {@code suffix}. */
  public ShrinkOptions suffix(String other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, charset, other, properties);
  }

  /** Sets {@code properties}. */
  public ShrinkOptions properties(Properties other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, charset, suffix, other);
  }
}
