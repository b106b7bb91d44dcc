package org.yunti.web.shrink.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.yunti.web.shrink.ShrunkTemplate;
import org.yunti.web.shrink.vtl.ShrinkException;

/** Report of the savings: of the sources, and of pages if there is a model to render them with. */
public final class ShrinkReport {
  private final List<ShrunkTemplate> templates;
  private final List<Row> rows = new ArrayList<>();

  /**
   * Measurement of a page after a step.
   *
   * @param template name of the template
   * @param step "before", "white space" or "client loops"
   * @param weight bytes and CPU time of the page
   */
  public record Row(String template, String step, Measure.Weight weight) {}

  /** Creates a report without measurements. */
  public ShrinkReport(List<ShrunkTemplate> templates) {
    this.templates = List.copyOf(templates);
  }

  /** Returns the measurements. */
  public List<Row> rows() {
    return List.copyOf(rows);
  }

  /**
   * Renders a template with a model before shrinking and after each step that changed something.
   *
   * @param millis milliseconds of CPU time for each measurement
   * @throws ShrinkException if there is no such template, or it cannot be rendered
   */
  public void measure(String name, Map<String, Object> model, Properties properties, long millis)
      throws ShrinkException {
    ShrunkTemplate template = templates.stream().filter(t -> t.name().equals(name)).findFirst()
        .orElseThrow(() -> new ShrinkException("template " + name + " does not exist"
            + " in the folder; name it as #parse does"));
    rows.clear();
    Map<String, String> before = new LinkedHashMap<>();
    Map<String, String> squeezed = new LinkedHashMap<>();
    Map<String, String> after = new LinkedHashMap<>();
    for (ShrunkTemplate t : templates) {
      before.put(t.name(), t.before());
      squeezed.put(t.name(), t.squeezed());
      after.put(t.name(), t.after());
    }
    Map<String, Map<String, String>> steps = new LinkedHashMap<>();
    steps.put("before", before);
    if (!squeezed.equals(before)) {
      steps.put("white space", squeezed);
    }
    if (!after.equals(squeezed)) {
      steps.put("client loops", after);
    }
    List<Measure> engines = steps.values().stream().map(sources -> new Measure(sources, properties, millis)).toList();
    List<Measure.Weight> weights = Measure.of(engines, name, model);
    for (String step : steps.keySet()) {
      rows.add(new Row(template.name(), step, weights.get(rows.size())));
    }
  }

  /** Returns lines for people: one per template, then the notes, then the pages. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    long before = 0;
    long after = 0;
    for (ShrunkTemplate template : templates) {
      before += template.before().length();
      after += template.after().length();
      lines.add(String.format(Locale.ROOT, "%s: %d -> %d characters%s%s", template.name(), template.before().length(),
          template.after().length(),
          percent(template.before().length(), template.after().length()), template.loops() == 0 ? ""
              : ", loops converted: "
              + template.loops()));
    }
    lines.add(String.format(Locale.ROOT, "templates: %d, %d -> %d characters%s", templates.size(), before, after,
        percent(before, after)));
    templates.forEach(template -> template.notes().forEach(note -> lines.add("note: " + note)));
    Measure.Weight first = null;
    for (Row row : rows) {
      Measure.Weight weight = row.weight();
      first = row.step().equals("before") ? weight : first;
      lines.add(String.format(Locale.ROOT, "page of %s, %s: %d bytes%s, %d gzipped%s, %.1f us CPU%s", row.template(),
          row.step(), weight.bytes(),
          percent(first.bytes(), weight.bytes()), weight.gzipped(), percent(first.gzipped(), weight.gzipped()),
          weight.micros(), percent(first.micros(), weight.micros())));
    }
    return lines;
  }

  private static String percent(double before, double after) {
    return before == after || before == 0 ? ""
        : String.format(Locale.ROOT, " (%+.1f %%)", 100 * (after - before) / before);
  }

  /** Returns the report as a JSON object. */
  public Map<String, Object> json() {
    List<Object> all = new ArrayList<>();
    for (ShrunkTemplate template : templates) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("template", template.name());
      one.put("charsBefore", template.before().length());
      one.put("charsSqueezed", template.squeezed().length());
      one.put("charsAfter", template.after().length());
      one.put("clientLoops", template.loops());
      one.put("notes", template.notes());
      all.add(one);
    }
    List<Object> pages = new ArrayList<>();
    for (Row row : rows) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("template", row.template());
      one.put("step", row.step());
      one.put("bytes", row.weight().bytes());
      one.put("gzippedBytes", row.weight().gzipped());
      one.put("cpuMicros", row.weight().micros());
      pages.add(one);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("templates", all);
    report.put("pages", pages);
    return report;
  }
}
