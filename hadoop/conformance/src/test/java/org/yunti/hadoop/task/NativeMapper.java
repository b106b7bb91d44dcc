package org.yunti.hadoop.task;

import org.apache.hadoop.examples.WordCount;

/**
 * Word count in Java under the plug-in's class name: the suite recognises native jobs by their mapper, and the plug-in
 * is not on this class path.
 */
public final class NativeMapper extends WordCount.TokenizerMapper {
  @Override
  protected void setup(Context context) {
    context.getCounter("Yunti", "native").increment(1);
  }
}
