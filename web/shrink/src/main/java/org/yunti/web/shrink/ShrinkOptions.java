package org.yunti.web.shrink;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * What is done to a folder of templates. Nothing is done that is not asked for.
 *
 * @param squeezesWhiteSpace runs of blanks become one, or none where they can never be seen
 * @param squeezesBlocks and none at the edges of div, p, li and the like, which a style sheet may have made inline
 * @param expandsLoops loops that the author has marked {@code ## yunti:client-loop} are sent as their rows' values
 * @param charset of the templates
 * @param suffix of the names of templates; other files are copied
 * @param properties of Velocity, as the application has them: gobbling and names of directives are read from them
 */
public record ShrinkOptions(boolean squeezesWhiteSpace, boolean squeezesBlocks, boolean expandsLoops, Charset charset, String suffix,
    Properties properties) {

  public static ShrinkOptions none() {
    return new ShrinkOptions(false, false, false, StandardCharsets.UTF_8, ".vm", new Properties());
  }

  public ShrinkOptions whiteSpace(boolean on) {
    return new ShrinkOptions(on, squeezesBlocks, expandsLoops, charset, suffix, properties);
  }

  public ShrinkOptions blocks(boolean on) {
    return new ShrinkOptions(squeezesWhiteSpace || on, on, expandsLoops, charset, suffix, properties);
  }

  public ShrinkOptions clientLoops(boolean on) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, on, charset, suffix, properties);
  }

  public ShrinkOptions charset(Charset other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, other, suffix, properties);
  }

  public ShrinkOptions suffix(String other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, charset, other, properties);
  }

  public ShrinkOptions properties(Properties other) {
    return new ShrinkOptions(squeezesWhiteSpace, squeezesBlocks, expandsLoops, charset, suffix, other);
  }
}
