package org.yunti.hadoop.oldapi;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.util.ReflectionUtils;

/** Split of the old API inside one of the new API. Serialised form: its class name, then its own bytes. */
public final class OldSplit extends InputSplit implements Writable, Configurable {
  private final Configured configured = new Configured();
  private org.apache.hadoop.mapred.InputSplit split;

  /** Constructor for Hadoop, which calls {@link #readFields} next. */
  public OldSplit() {}

  OldSplit(org.apache.hadoop.mapred.InputSplit split) {
    this.split = split;
  }

  org.apache.hadoop.mapred.InputSplit split() {
    return split;
  }

  @Override
  public long getLength() throws IOException {
    return split.getLength();
  }

  @Override
  public String[] getLocations() throws IOException {
    return split.getLocations();
  }

  @Override
  public void write(DataOutput out) throws IOException {
    Text.writeString(out, split.getClass().getName());
    split.write(out);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    String name = Text.readString(in);
    try {
      Class<?> of = getConf().getClassByName(name);
      split = (org.apache.hadoop.mapred.InputSplit) ReflectionUtils.newInstance(of, getConf());
    } catch (ClassNotFoundException e) {
      throw new IOException("Yunti: there is no split class " + name + " on the class path", e);
    }
    split.readFields(in);
  }

  @Override
  public void setConf(Configuration conf) {
    configured.setConf(conf);
  }

  @Override
  public Configuration getConf() {
    return configured.getConf();
  }
}
