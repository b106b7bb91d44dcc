package org.yunti.hadoop.conformance.cpu;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The processor time of this process, of all its threads, ended ones too, but for those that compile.
 *
 * <p>{@code OperatingSystemMXBean.getProcessCpuTime} counts in hundredths of a second, which is 2 % of a small job. The C library's
 * {@code clock} counts in microseconds; Java 17 reaches it by an incubating module, whose classes a release build may not name, hence
 * the reflection. Needs {@code --add-modules jdk.incubator.foreign} and, for threads that compile to be known by the time of their
 * own, {@code -XX:-UseDynamicNumberOfCompilerThreads}.
 */
public final class CpuClock {
  private static final String FOREIGN = "jdk.incubator.foreign.";
  private static final Path THREADS = Path.of("/proc/self/task");

  private static final Pattern COMPILER = Pattern.compile("C[12] Compiler");

  private final MethodHandle clock;

  /** Processor time between two readings, in seconds. */
  public record Reading(double process_s, double compiler_s) {
    public Reading since(Reading before) {
      return new Reading(process_s - before.process_s, compiler_s - before.compiler_s);
    }

    /** Without what is the compiler's. */
    public double work_s() {
      return process_s - compiler_s;
    }
  }

  public CpuClock() {
    try {
      clock = find("clock");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("processor time needs Java 17 with --add-modules jdk.incubator.foreign", e);
    }
  }

  private static MethodHandle find(String function) throws ReflectiveOperationException {
    Class<?> linker = Class.forName(FOREIGN + "CLinker");
    Class<?> layout = Class.forName(FOREIGN + "MemoryLayout");
    Class<?> descriptor = Class.forName(FOREIGN + "FunctionDescriptor");
    Object libraries = linker.getMethod("systemLookup").invoke(null);
    Object symbol = ((Optional<?>) Class.forName(FOREIGN + "SymbolLookup").getMethod("lookup", String.class)
        .invoke(libraries, function)).orElseThrow();
    Object none = Array.newInstance(layout, 0);
    Object returnsLong = descriptor.getMethod("of", layout, none.getClass())
        .invoke(null, linker.getField("C_LONG").get(null), none);
    return (MethodHandle) linker
        .getMethod("downcallHandle", Class.forName(FOREIGN + "Addressable"), MethodType.class, descriptor)
        .invoke(linker.getMethod("getInstance").invoke(null), symbol, MethodType.methodType(long.class), returnsLong);
  }

  public Reading read() throws IOException {
    try {
      return new Reading((long) clock.invokeExact() / 1e6, compiler_s());
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** What C1 and C2 have taken so far: the JVM tells it by no bean. */
  private static double compiler_s() throws IOException {
    long ns = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
      for (Path thread : threads) {
        try {
          if (COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt()) {
            ns += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
          }
        } catch (IOException e) {
          continue; // It has ended meanwhile, and was no compiler.
        }
      }
    }
    return ns / 1e9;
  }
}
