import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.*;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Writes and reads SequenceFiles by Hadoop's own classes, for the test beside it.
 *
 * <pre>
 *   write DIR RECORDS              a file for each pair of classes, compression, codec; its records as text beside it
 *   read FILE                      the classes and records of a file, as text
 * </pre>
 */
public class SequenceFiles {
  static final String[] CODECS = {"DefaultCodec", "GzipCodec", "BZip2Codec", "Lz4Codec", "SnappyCodec"};
  static final Class<?>[][] CLASSES = {{Text.class, IntWritable.class}, {LongWritable.class, Text.class},
    {BytesWritable.class, NullWritable.class}, {NullWritable.class, BooleanWritable.class},
    {ByteWritable.class, ShortWritable.class}, {VIntWritable.class, VLongWritable.class},
    {FloatWritable.class, DoubleWritable.class}};

  public static void main(String[] args) throws Exception {
    if (args[0].equals("write")) {
      write(args[1], Integer.parseInt(args[2]));
    } else {
      read(args[1]);
    }
  }

  static void write(String directory, int records) throws Exception {
    Configuration conf = new Configuration();
    int number = 0;
    for (Class<?>[] classes : CLASSES) {
      for (SequenceFile.CompressionType type : SequenceFile.CompressionType.values()) {
        for (String name : CODECS) {
          boolean plain = type == SequenceFile.CompressionType.NONE;
          if ((plain && !name.equals("DefaultCodec")) || (name.startsWith("Lz4") && !hasLz4())) {
            continue;
          }
          // ReflectionUtils configures the codec.
          CompressionCodec codec = (CompressionCodec) ReflectionUtils.newInstance(
              Class.forName("org.apache.hadoop.io.compress." + name), conf);
          String file = directory + "/" + type + "-" + name + "-" + classes[0].getSimpleName() + ".seq";
          Random random = new Random(number++);
          Writable key = make(classes[0]);
          Writable value = make(classes[1]);
          try (SequenceFile.Writer writer = SequenceFile.createWriter(conf, SequenceFile.Writer.file(new Path(file)),
                  SequenceFile.Writer.keyClass(classes[0]), SequenceFile.Writer.valueClass(classes[1]),
                  SequenceFile.Writer.compression(type, codec));
              PrintStream text = new PrintStream(file + ".txt", "UTF-8")) {
            for (int i = 0; i < records; i++) {
              set(key, random);
              set(value, random);
              writer.append(key, value);
              text.println(text(key) + "\t" + text(value));
            }
          }
        }
      }
    }
  }

  static void read(String file) throws Exception {
    Configuration conf = new Configuration();
    try (SequenceFile.Reader reader = new SequenceFile.Reader(conf, SequenceFile.Reader.file(new Path(file)))) {
      Writable key = make(reader.getKeyClass());
      Writable value = make(reader.getValueClass());
      PrintStream out = new PrintStream(System.out, false, "UTF-8");
      out.println(reader.getKeyClass().getSimpleName() + "\t" + reader.getValueClass().getSimpleName());
      while (reader.next(key, value)) {
        out.println(text(key) + "\t" + text(value));
      }
      out.flush();
    }
  }

  /** Hadoop declares the library of its Lz4Codec as provided. */
  static boolean hasLz4() {
    try {
      Class.forName("net.jpountz.lz4.LZ4Factory");
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  static Writable make(Class<?> of) throws Exception {
    if (of == NullWritable.class) {
      return NullWritable.get();
    }
    return (Writable) of.getDeclaredConstructor().newInstance();
  }

  static void set(Writable to, Random random) {
    if (to instanceof Text text) {
      text.set("word " + random.nextInt(1000) + (random.nextInt(9) == 0 ? " größe" : ""));
    } else if (to instanceof IntWritable number) {
      number.set(random.nextInt());
    } else if (to instanceof LongWritable number) {
      number.set(random.nextLong());
    } else if (to instanceof BytesWritable bytes) {
      byte[] letters = new byte[random.nextInt(30)];
      Arrays.fill(letters, (byte) ('a' + random.nextInt(26)));
      bytes.set(letters, 0, letters.length);
    } else if (to instanceof BooleanWritable flag) {
      flag.set(random.nextBoolean());
    } else if (to instanceof ByteWritable number) {
      number.set((byte) random.nextInt());
    } else if (to instanceof ShortWritable number) {
      number.set((short) random.nextInt());
    } else if (to instanceof VIntWritable number) {
      number.set(random.nextInt() >> random.nextInt(32));
    } else if (to instanceof VLongWritable number) {
      number.set(random.nextLong() >> random.nextInt(64));
    } else if (to instanceof FloatWritable number) {
      number.set(random.nextInt(1000) / 8f);
    } else if (to instanceof DoubleWritable number) {
      number.set(random.nextInt(100000) / 16.0);
    }
  }

  static String text(Writable of) {
    if (of instanceof NullWritable) {
      return "";
    }
    if (of instanceof BytesWritable bytes) {
      return new String(bytes.copyBytes(), StandardCharsets.UTF_8);
    }
    return of.toString();
  }
}
