package org.yunti.hadoop.task;

import org.apache.hadoop.examples.WordCount;

/** A job of native tasks is known by the name of its mapper, and the plug-in is not on this class path: word count in Java. */
public final class NativeMapper extends WordCount.TokenizerMapper {
  @Override
  protected void setup(Context context) {
    context.getCounter("Yunti", "native").increment(1);
  }
}
