package org.yunti.hadoop.conformance;

import java.io.File;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Command line in parsed form. Parsing has no effects. */
final class Options {
  static final String USAGE = """
      usage: conformance [options]
        --variant NAME   compare with stock: stock (the default), collector, shuffle, runner or native; may be repeated
        -Dkey=value      add a setting to the variant
        --conf FILE      add the settings of a Hadoop configuration file to the variant
        --judged         require counter group Yunti from the variant's tasks (implied by named variants)
        --only PATTERN   run only cases whose name contains this regular expression; may be repeated
        --sweep          also run the cases that sweep over sizes of records and buffers, which take minutes
        --list           print the names of the cases
        --times          print the seconds of each case after its name
        --keep           keep inputs, outputs and the log of the tasks
        --work FOLDER    write the files of runs here (default: a folder below the temporary folder)
        --stock-may-fail skip a case that stock Hadoop itself fails, as some do on other versions (implied by --hadoop)
        --cluster        run the cases marked for it on the cluster of the configuration on the class path
        --cpu            measure processor time instead of comparing results; needs hadoop/conformance/run
        --scale K        --cpu: enlarge inputs at most K times (default 400)
        --seconds S      --cpu: enlarge inputs until a stock job takes S of processor time (default 0.5)
        --rounds N       --cpu: run each side N times (default 6)
        --json FILE      --cpu: write all samples, one line of JSON per case and variant
        --plugin JAR     ship this plug-in to a cluster's tasks; a local run takes it from the class path
      options of hadoop/conformance/run:
        --hadoop VERSION run on this version of Hadoop, from Maven Central (default 3.5.0)
        --shaded         run on hadoop-client-api and hadoop-client-runtime instead of Hadoop's separate jars
        --java HOME      run in this JVM, 8 or later
        --link           run no job: check that all that the plug-in's jar refers to exists on the class path
      The last line is "N passed, N failed, N skipped", with --cpu "N within 1.03, N over, N unclear, N failed, N skipped".
      Exit status: 0, 1 if a case failed or was over, 2 if the command line is wrong.
      """;

  private final List<String> variants = new ArrayList<>();
  private final Map<String, String> overlay = new LinkedHashMap<>();
  private boolean judged;
  private Pattern only = Pattern.compile("");
  private boolean sweep;
  private boolean list;
  private boolean times;
  private boolean keep;
  private String work;
  private boolean stockMayFail;
  private boolean cluster;
  private String plugin;
  private boolean cpu;
  private int scale = 400;
  private double seconds = 0.5;
  private int rounds = 6;
  private String json;

  private Options() {}

  /** @throws IllegalArgumentException with a line for the user */
  static Options parse(List<String> arguments) {
    Options options = new Options();
    Iterator<String> rest = arguments.iterator();
    while (rest.hasNext()) {
      String argument = rest.next();
      switch (argument) {
        case "--variant" -> options.variants.add(value(argument, rest));
        case "--conf" -> options.addFile(value(argument, rest));
        case "--judged" -> options.judged = true;
        case "--only" -> options.addPattern(value(argument, rest));
        case "--sweep" -> options.sweep = true;
        case "--list" -> options.list = true;
        case "--times" -> options.times = true;
        case "--keep" -> options.keep = true;
        case "--work" -> options.work = value(argument, rest);
        case "--stock-may-fail" -> options.stockMayFail = true;
        case "--cluster" -> options.cluster = true;
        case "--cpu" -> options.cpu = true;
        case "--scale" -> options.scale = (int) number(argument, rest, 1);
        case "--seconds" -> options.seconds = number(argument, rest, 0.001);
        case "--rounds" -> options.rounds = (int) number(argument, rest, 2);
        case "--json" -> options.json = new File(value(argument, rest)).getAbsolutePath();
        case "--plugin" -> options.plugin = value(argument, rest);
        default -> options.addSetting(argument);
      }
    }
    if (options.cpu && options.cluster) {
      throw new IllegalArgumentException("--cpu measures this JVM, not a cluster");
    }
    return options;
  }

  private static String value(String option, Iterator<String> rest) {
    if (!rest.hasNext()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    return rest.next();
  }

  private static double number(String option, Iterator<String> rest, double least) {
    String value = value(option, rest);
    try {
      double number = Double.parseDouble(value);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Handled like a number that is too small.
    }
    throw new IllegalArgumentException(option + " needs a number, not " + value);
  }

  private void addFile(String name) {
    if (!new File(name).isFile()) {
      throw new IllegalArgumentException("no file " + name);
    }
    Configuration file = new Configuration(false);
    file.addResource(new Path(new File(name).toURI()));
    file.forEach(setting -> overlay.put(setting.getKey(), setting.getValue()));
  }

  private void addPattern(String pattern) {
    String before = only.pattern();
    only = Pattern.compile(before.isEmpty() ? pattern : before + "|" + pattern);
  }

  private void addSetting(String argument) {
    int equals = argument.indexOf('=');
    if (!argument.startsWith("-D") || equals < 3) {
      throw new IllegalArgumentException("unknown option " + argument);
    }
    overlay.put(argument.substring(2, equals), argument.substring(equals + 1));
  }

  /** Returns the named variants, or stock if there are none. */
  List<Variant> variants() {
    List<String> names = variants.isEmpty() ? List.of("stock") : variants;
    return names.stream().map(name -> Variant.named(name).with(overlay, judged)).toList();
  }

  boolean chooses(String caseName) {
    return only.matcher(caseName).find();
  }

  boolean sweep() {
    return sweep;
  }

  boolean list() {
    return list;
  }

  boolean times() {
    return times;
  }

  boolean keep() {
    return keep;
  }

  String work() {
    String temporary = cluster ? "/tmp" : System.getProperty("java.io.tmpdir");
    String folder = work == null ? temporary + "/yunti-conformance-" + ProcessHandle.current().pid() : work;
    return cluster ? folder : new File(folder).getAbsolutePath();
  }

  boolean stockMayFail() {
    return stockMayFail;
  }

  boolean cluster() {
    return cluster;
  }

  boolean cpu() {
    return cpu;
  }

  int scale() {
    return scale;
  }

  double seconds() {
    return seconds;
  }

  int rounds() {
    return rounds;
  }

  String json() {
    return json;
  }

  String plugin() {
    return plugin == null ? null : new File(plugin).toURI().toString();
  }
}
