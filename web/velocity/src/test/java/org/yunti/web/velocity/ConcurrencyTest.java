package org.yunti.web.velocity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.Test;

/** Test of threads that render one template with models of different classes while its call sites are linked. */
class ConcurrencyTest {
  private static final int THREADS = 8;
  private static final String TEMPLATE = """
      #macro(cell $v)<td>$v</td>#end
      #foreach($row in $rows)<tr>#cell($row.name)#cell($row.add(1, 2))\
      $row.list[0]#if($row.list.size() > $foreach.index)+#end</tr>#end
      #set($sum = $rows.size() * 3)$sum "$rows[0].name"
      """;

  /** Model with several classes, so that receivers differ. */
  public interface Row {
    String getName();

    int add(int a, int b);

    List<String> getList();
  }

  private static Row row(int kind) {
    return switch (kind % 3) {
      case 0 -> new Plain("plain" + kind);
      case 1 -> new Other("other" + kind);
      default -> new Third("third" + kind);
    };
  }

  /** First class. */
  public record Plain(String getName) implements Row {
    public int add(int a, int b) {
      return a + b;
    }

    public List<String> getList() {
      return List.of(getName);
    }
  }

  /** Second class. */
  public record Other(String getName) implements Row {
    public int add(int a, int b) {
      return a - b;
    }

    public List<String> getList() {
      return new ArrayList<>(List.of(getName, getName));
    }
  }

  /** Third class. */
  public record Third(String getName) implements Row {
    public int add(int a, int b) {
      return a * b;
    }

    public List<String> getList() {
      return new java.util.LinkedList<>(List.of(getName));
    }
  }

  private static Map<String, Object> model(int thread, int round) {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      rows.add(row(thread + round * i));
    }
    return Map.of("rows", rows);
  }

  private static String render(Template template, Map<String, Object> model) {
    StringWriter writer = new StringWriter();
    template.merge(new VelocityContext(new HashMap<>(model)), writer);
    return writer.toString();
  }

  @Test
  void rendersThePageOfEachThread() throws Exception {
    VelocityEngine stock = Engines.stock();
    Engines.put(stock, "t.vm", TEMPLATE);
    Template reference = stock.getTemplate("t.vm");
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (int turn = 0; turn < 10; turn++) {
        VelocityEngine ours = Engines.compiling();
        Engines.put(ours, "t.vm", TEMPLATE);
        CyclicBarrier begin = new CyclicBarrier(THREADS);
        List<Future<List<String>>> all = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          int own = thread;
          Callable<List<String>> pages = () -> {
            begin.await();
            List<String> rendered = new ArrayList<>();
            for (int round = 0; round < 60; round++) {
              rendered.add(render(ours.getTemplate("t.vm"), model(own, round)));
            }
            return rendered;
          };
          all.add(threads.submit(pages));
        }
        for (int thread = 0; thread < THREADS; thread++) {
          List<String> rendered = all.get(thread).get();
          for (int round = 0; round < rendered.size(); round++) {
            assertEquals(render(reference, model(thread, round)), rendered.get(round));
          }
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
