package org.yunti.hadoop.conformance.input;

import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.SequenceFile;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Trial;

/**
 * Sequence files of drawn records, one split each. The case's serialisations must accept keys and values, so Java
 * Serialization works as well as Writables.
 */
public final class SequenceInput<K, V> implements Case.Input {
  private final Class<K> keyClass;
  private final Draw<? extends K> keys;
  private final Class<V> valueClass;
  private final Draw<? extends V> values;
  private final String folder;
  private final int files;
  private final int records;

  /** @param records in each file, at the case's own scale */
  public SequenceInput(Class<K> keyClass, Draw<? extends K> keys, Class<V> valueClass, Draw<? extends V> values,
      String folder, int files, int records) {
    this.keyClass = keyClass;
    this.keys = keys;
    this.valueClass = valueClass;
    this.values = values;
    this.folder = folder;
    this.files = files;
    this.records = records;
  }

  @Override
  public void write(Trial trial) throws Exception {
    Configuration conf = trial.conf();
    for (int file = 0; file < files; file++) {
      Random random = new Random(0x59754e54L * 31 + file);
      Path path = trial.input(folder + "/records-" + file + ".seq");
      try (SequenceFile.Writer writer = SequenceFile.createWriter(conf, SequenceFile.Writer.file(path),
          SequenceFile.Writer.keyClass(keyClass), SequenceFile.Writer.valueClass(valueClass),
          SequenceFile.Writer.compression(SequenceFile.CompressionType.NONE))) {
        for (int record = 0; trial.scale().more(records, record, writer.getLength()); record++) {
          // As Objects, because append(Writable, Writable) rejects Java-serialised ones.
          Object key = keys.draw(random, record);
          Object value = values.draw(random, record);
          writer.append(key, value);
        }
      }
    }
  }
}
