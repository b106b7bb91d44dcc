package org.yunti.web.oracle.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Difference;

/** Reducer of failing cases: leaves out pages, properties, templates and pieces of text while the case fails. */
public final class Shrinker {
  private final Function<Case, Optional<Difference>> compare;
  private int attemptsLeft;
  private Difference smallest;

  public Shrinker(Function<Case, Optional<Difference>> compare, int attempts) {
    this.compare = compare;
    attemptsLeft = attempts;
  }

  public Difference shrink(Difference failing) {
    smallest = failing;
    int before;
    do {
      before = attemptsLeft;
      Case at = smallest.of();
      for (int i = at.steps().size() - 1; i >= 0 && smallest.of().steps().size() > 1; i--) {
        fails(smallest.of().withoutStep(i));
      }
      List<String> names = new ArrayList<>(at.properties().keySet());
      at.templates().keySet().stream().filter(name -> !name.equals(Case.MAIN)).forEach(names::add);
      names.forEach(name -> fails(smallest.of().without(name)));
      boolean smaller = false;
      for (String name : List.copyOf(smallest.of().templates().keySet())) {
        smaller |= text(name);
      }
      if (!smaller) {
        break;
      }
    } while (attemptsLeft > 0 && attemptsLeft < before);
    return smallest;
  }

  private boolean text(String name) {
    boolean smaller = false;
    String text = (String) smallest.of().templates().get(name);
    for (int piece = Math.max(1, text.length() / 2); piece > 0; piece = piece == 1 ? 0 : Math.max(1, piece * 2 / 3)) {
      for (int at = 0; at < text.length();) {
        String shorter = text.substring(0, at) + text.substring(Math.min(text.length(), at + piece));
        if (fails(smallest.of().with(name, shorter))) {
          text = shorter;
          smaller = true;
        } else {
          at += piece;
        }
      }
    }
    return pairs(name) || smaller;
  }

  /** Removes pieces in pairs: a directive and its end must go together. */
  private boolean pairs(String name) {
    boolean smaller = false;
    boolean again;
    do {
      again = false;
      String[] pieces = ((String) smallest.of().templates().get(name)).split("(?=[#$])|(?<=[)])");
      for (int i = 0; i < pieces.length && !again; i++) {
        for (int j = i + 1; j < pieces.length && !again; j++) {
          StringBuilder shorter = new StringBuilder();
          for (int k = 0; k < pieces.length; k++) {
            shorter.append(k == i || k == j ? "" : pieces[k]);
          }
          again = fails(smallest.of().with(name, shorter.toString()));
        }
      }
      smaller |= again;
    } while (again);
    return smaller;
  }

  private boolean fails(Case c) {
    if (attemptsLeft-- <= 0) {
      return false;
    }
    Optional<Difference> difference = compare.apply(c);
    // A different kind of difference is another fault.
    if (difference.isEmpty() || !difference.get().what().equals(smallest.what())) {
      return false;
    }
    smallest = difference.get();
    return true;
  }
}
