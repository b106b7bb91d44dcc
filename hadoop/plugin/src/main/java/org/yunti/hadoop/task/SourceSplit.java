package org.yunti.hadoop.task;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.mapred.SplitLocationInfo;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/** Range of a file, with the index of the job's source that the file belongs to. */
public final class SourceSplit extends FileSplit {
  private int source;

  /** Constructor for {@link #readFields}. */
  public SourceSplit() {}

  SourceSplit(FileSplit of, int source) throws IOException {
    super(of.getPath(), of.getStart(), of.getLength(), of.getLocations(), inMemory(of));
    this.source = source;
  }

  private static String[] inMemory(FileSplit of) throws IOException {
    SplitLocationInfo[] hosts = of.getLocationInfo();
    return hosts == null
        ? new String[0]
        : Arrays.stream(hosts).filter(SplitLocationInfo::isInMemory).map(SplitLocationInfo::getLocation).toArray(String[]::new);
  }

  /** Returns the source index of any split; 0 in a job with a single source. */
  static int source(InputSplit split) {
    return split instanceof SourceSplit ? ((SourceSplit) split).source : 0;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    super.write(out);
    out.writeInt(source);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    super.readFields(in);
    source = in.readInt();
  }
}
