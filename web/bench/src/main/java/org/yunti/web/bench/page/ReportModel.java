package org.yunti.web.bench.page;

import java.util.Map;
import java.util.TreeMap;

/** A report: the summary page of a package with 80 classes, of maven-jxr, which hands its template maps and such
 * classes. */
public final class ReportModel {
  private ReportModel() {}

  /** A class of the package. */
  public record ClassInfo(String name) {
    public String getName() {
      return name;
    }

    public String getFilename() {
      return name;
    }
  }

  /** The package. */
  public record PackageInfo(String name, Map<String, ClassInfo> classes) {
    public String getName() {
      return name;
    }

    public Map<String, ClassInfo> getClasses() {
      return classes;
    }

    public String getRootRef() {
      return "../../../";
    }
  }

  static Map<String, Object> create() {
    Map<String, ClassInfo> classes = new TreeMap<>();
    for (int i = 0; i < 80; i++) {
      String name = "Worker" + (char) ('A' + i % 26) + i;
      classes.put(name, new ClassInfo(name));
    }
    return Map.of("outputEncoding", "UTF-8", "windowTitle", "Warehouse 3.1", "docTitle", "Warehouse 3.1 Reference",
        "bottom", "Made for a benchmark.", "pkgInfo", new PackageInfo("org.example.warehouse", classes));
  }
}
