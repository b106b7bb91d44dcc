package org.yunti.hadoop.conformance.trace;

import java.io.IOException;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Reducer;

/** {@link Trace} as a reducer of the new API. */
public final class TraceReducer<K, V> extends Reducer<K, V, Text, Text> {
  private Trace<K, V> trace;

  @Override
  protected void setup(Context context) {
    trace = new Trace<>(context.getConfiguration());
  }

  @Override
  protected void reduce(K key, Iterable<V> values, Context context) throws IOException, InterruptedException {
    trace.startGroup(context::write);
    for (V value : values) {
      // The framework updates the key object with each value, so it is the key of this value.
      trace.add(key, value, context::write);
    }
  }

  @Override
  protected void cleanup(Context context) throws IOException, InterruptedException {
    trace.flush(context::write);
  }
}
