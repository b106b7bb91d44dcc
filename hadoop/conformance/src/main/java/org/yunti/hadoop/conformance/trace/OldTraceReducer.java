package org.yunti.hadoop.conformance.trace;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Iterator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;

/** {@link Trace} as a reducer of the old API. */
public final class OldTraceReducer<K, V> implements Reducer<K, V, Text, Text> {
  private Trace<K, V> trace;
  private OutputCollector<Text, Text> lastOut;

  @Override
  public void configure(JobConf job) {
    trace = new Trace<>(job);
  }

  @Override
  public void reduce(K key, Iterator<V> values, OutputCollector<Text, Text> out, Reporter reporter)
      throws IOException {
    lastOut = out;
    try {
      trace.startGroup(out::collect);
      while (values.hasNext()) {
        V value = values.next();
        trace.add(key, value, out::collect);
      }
    } catch (InterruptedException e) {
      throw new InterruptedIOException(e.getMessage());
    }
  }

  @Override
  public void close() throws IOException {
    try {
      if (lastOut != null) {
        trace.flush(lastOut::collect);
      }
    } catch (InterruptedException e) {
      throw new InterruptedIOException(e.getMessage());
    }
  }
}
