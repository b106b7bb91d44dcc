package org.yunti.web.bench.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Model of a mail: the announcement of a release by the maven-changes-plugin, whose template calls methods with and
 * without an argument.
 */
public final class MailModel {
  private static final List<String> TYPES = List.of("add", "fix", "update", "remove");

  private MailModel() {}

  /** Change of a release. */
  public record Action(String type, String text, String issue, String thanks) {
    public String getAction() {
      return text;
    }

    public String getIssue() {
      return issue;
    }

    public String getDueTo() {
      return thanks;
    }
  }

  /** Release of the announcement. */
  public record Release(List<Action> actions) {
    public List<Action> getActions() {
      return actions;
    }

    public List<Action> getActions(String type) {
      return actions.stream().filter(action -> action.type().equals(type)).toList();
    }
  }

  static Map<String, Object> create() {
    List<Action> actions = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      actions.add(new Action(TYPES.get(i % 4), "Shelves can be numbered by letters in aisle " + i, i % 3 == 0 ? null
          : "STORE-" + (400 + i), i % 5 == 0 ? "Marit Solheim" : null));
    }
    return Map.of("developmentTeam", "Warehouse team", "finalName", "warehouse-3.1", "introduction",
        "Keeps goods where they can be found.", "urlDownload", "https://warehouse.example/download", "release",
        new Release(actions));
  }
}
