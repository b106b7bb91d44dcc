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
 * Processor time of this process: of all its threads, including ended ones, except the JIT compiler's.
 *
 * <p>{@code OperatingSystemMXBean.getProcessCpuTime} has a resolution of 10 ms, which is 2 % of a small job. The C
 * library's {@code clock} has one of a microsecond. Java 17 reaches it through an incubating module, whose classes a
 * release build may not name, hence the reflection.
 *
 * <p>Needs {@code --add-modules jdk.incubator.foreign}, and {@code -XX:-UseDynamicNumberOfCompilerThreads} so that
 * compiler threads live on and their times stay readable.
 */
public final class CpuClock {
  private static final String FOREIGN = "jdk.incubator.foreign.";
  private static final Path THREADS = Path.of("/proc/self/task");

  private static final Pattern COMPILER = Pattern.compile("C[12] Compiler");

  private final MethodHandle clock;

  /** Processor times up to one moment, in seconds. */
  public record Reading(double process_s, double compiler_s) {
    public Reading since(Reading before) {
      return new Reading(process_s - before.process_s, compiler_s - before.compiler_s);
    }

    /** Returns the time without the JIT compiler's. */
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

  /** Returns the time of C1 and C2 so far; no bean of the JVM has it. */
  private static double compiler_s() throws IOException {
    long ns = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
      for (Path thread : threads) {
        try {
          if (COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt()) {
            ns += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
          }
        } catch (IOException e) {
          continue; // The thread has ended, so it was no compiler.
        }
      }
    }
    return ns / 1e9;
  }
}
