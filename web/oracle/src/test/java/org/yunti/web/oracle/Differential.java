package org.yunti.web.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;
import org.slf4j.MDC;

/**
 * Differential test: renders a case by stock Velocity and by another resource manager, and returns the first
 * difference.
 */
public final class Differential {
  private final String candidate;
  private final UnaryOperator<Case> change;

  /**
   * Creates a test of a resource manager.
   *
   * @param candidate class name of the resource manager under test
   */
  public Differential(String candidate) {
    this(candidate, UnaryOperator.identity());
  }

  /**
   * Creates a test that changes the case for the engine under test.
   *
   * @param change change of the case
   */
  Differential(String candidate, UnaryOperator<Case> change) {
    this.candidate = candidate;
    this.change = change;
  }

  public static Differential ofCompiler() {
    return new Differential(Engines.CANDIDATE);
  }

  /** Returns the first difference, or nothing. */
  public Optional<Difference> compare(Case c) {
    List<Outcome> expected = run(c, null);
    List<Outcome> found = run(change.apply(c), candidate);
    for (int i = 0; i < Math.min(expected.size(), found.size()); i++) {
      Optional<String> what = difference(expected.get(i), found.get(i));
      if (what.isPresent()) {
        return Optional.of(new Difference(c, i, what.get(), expected.get(i), found.get(i)));
      }
    }
    return expected.size() == found.size()
        ? Optional.empty()
        : Optional.of(new Difference(c, 0, "start", expected.get(0), found.get(0)));
  }

  /** Returns the outcomes of stock Velocity, for tests of the cases themselves. */
  public static List<Outcome> stock(Case c) {
    return run(c, null);
  }

  private static List<Outcome> run(Case c, String manager) {
    List<Outcome> outcomes = new ArrayList<>();
    MemoryLoader loader = new MemoryLoader();
    VelocityEngine engine;
    MDC.clear();
    try {
      engine = Engines.make(c, loader, manager);
    } catch (RuntimeException e) {
      return List.of(new Outcome("", Describe.thrown(e), Map.of(), List.of()));
    }
    Context context = null;
    for (Case.Step step : c.steps()) {
      context = step.context() == null && context != null ? context : step.context() == null ? new VelocityContext()
          : step.context().get();
      outcomes.add(page(engine, loader, step, context, manager == null));
    }
    return outcomes;
  }

  private static Outcome page(VelocityEngine engine, MemoryLoader loader, Case.Step step, Context context,
      boolean isStock) {
    Sink.Page page = new Sink.Page("", null);
    List<String> journal;
    Journal.open();
    try {
      step.before().to(engine, loader);
      Template template = engine.getTemplate(step.template(), step.encoding());
      page = step.sink().of(isStock).render(template, context);
    } catch (RuntimeException | Error e) {
      page = new Sink.Page("", e);
    } finally {
      journal = Journal.close();
    }
    return new Outcome(
        Describe.withoutIdentity(page.text()),
        Describe.withoutIdentity(Describe.thrown(page.thrown())),
        Describe.context(context),
        journal.stream().map(Describe::withoutIdentity).toList());
  }

  private static Optional<String> difference(Outcome a, Outcome b) {
    if (!a.text().equals(b.text())) {
      return Optional.of("text");
    }
    if (!a.thrown().equals(b.thrown())) {
      return Optional.of("exception");
    }
    if (!Objects.equals(a.context(), b.context())) {
      return Optional.of("context");
    }
    return a.journal().equals(b.journal()) ? Optional.empty() : Optional.of("journal");
  }
}
