package org.yunti.web.oracle.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Generator of random templates: every construct of VTL, most of them correct.
 *
 * <p>No value may grow without bound. Loops are short, a macro calls only earlier ones (and itself once), a template
 * parses only later ones, and an assigned value contains one assigned value at most.
 */
final class Grammar {
  /** Names that are never assigned, so they may be used anywhere, any number of times. */
  private static final List<String> FIXED = List.of(
      "s", "i", "int", "q", "p", "robot", "map", "list", "nums", "none", "unknown", "empty", "yes", "no", "zero", "n",
      "t", "long", "double", "bigint", "bigdec", "html", "uni", "high", "low", "strings", "emptylist", "people",
      "shape", "color", "optional", "asString", "asNumber", "asTrue", "asFalse", "isEmpty", "sized", "unsized",
      "rendered", "nullText", "Math", "set", "c", "opening", "byte", "short", "float", "neg", "lmax", "imax", "digits",
      "grid", "loop", "badText", "notRendered", "wild", "file");

  /** Names that templates assign; the context has some of them. */
  static final List<String> ASSIGNED = List.of("a", "b", "d", "e", "x", "y");

  private static final List<String> PROPERTIES = List.of(
      "name", "age", "friend", "any", "adult", "unknown", "nothing", "field", "key", "nil", "size", "empty", "class",
      "length", "model", "first", "Name", "two words", "friend.name", "friend.friend.unknown", "nothing.name");

  private static final List<String> CALLS = List.of(
      "getName()", "length()", "size()", "text($0)", "pick($0)", "many($0, $1)", "objects($0)", "objects($0, $1, 1)",
      "only($0)", "get($0)", "toString()", "self()", "returnsNull()", "nothing()", "unknownMethod($0)", "mixed($0, $1)",
      "bool($0)", "contains($0)", "equals($0)", "setName($0)", "ints($0)", "isEmpty()", "abs($0)", "max($0, $1)",
      "substring(1)", "sequence($0)");

  private static final List<String> FAILING = List.of(
      "q.fail('why')", "q.failing", "q.broken", "q.illegal('x')", "q.friend.failing", "q.fatal", "fixed.add(1)",
      "robot.error()");

  private static final List<String> WORDS = List.of(
      "text", " ", "  ", "\n", "\n\n", "\r\n", "\t", " \n ", "a", ",", "<b>", "</b>", ")", "]", "}", "\"", "'", "=",
      "|", "-", ";", "##c\n", "## $s #if\n", "#*c*#", "#* $s\n *#", "#**d*#", "#[[ $s #end ]]#", "#E0E0E0 ", "$5",
      "\u00e9", "\u4e2d\u6587", "\ud83d\ude00", "\ud83d", "\ude00", "\u0000", "\u2028", "\ufeff", "\u000b", "\r",
      "\\$s", "\\\\$s", "\\#if ", "\\#set($a = 1)", "\\$unknown", "\\\\$unknown", "\\$!none", "$\\!s", "\\${s}",
      "\\#end ", "1", "0x", "&#1;", "$ ", "# ", "\\ ", "$$s", "$$unknown", "$!$s", "C# ", "a$ ");

  /** Pieces that change the meaning of the next piece, and often make it unparsable. */
  private static final List<String> HAZARDS = List.of(
      ".", "(", "[", "{", "!", "\\", "\\\\", "$", "#", "$$", "$!", "${", "#{", "##", "#*", "#[[", "*#", "]]#", "#end",
      "#else", "$!{", "@", "\\!");

  private final SplittableRandom random;
  private final List<String> macros = new ArrayList<>();
  private final List<String> parts = new ArrayList<>();
  private int size;
  private int loops;
  private boolean mayAssign;

  Grammar(SplittableRandom random) {
    this.random = random;
  }

  private int below(int bound) {
    return random.nextInt(bound);
  }

  private boolean chance(int percent) {
    return below(100) < percent;
  }

  private <T> T any(List<T> of) {
    return of.get(below(of.size()));
  }

  /**
   * Generates a template.
   *
   * @param parsable names of templates that this one may parse
   */
  String template(int sizeMax, List<String> parsable) {
    size = sizeMax;
    loops = 0;
    parts.clear();
    parts.addAll(parsable);
    StringBuilder text = new StringBuilder();
    while (size > 0) {
      piece(text, 0);
    }
    return chance(6) ? mistake(text) : text.toString();
  }

  /**
   * Damages the text: removes a piece, doubles it, or inserts a hazard. Text that does not parse must fail with the
   * same message.
   */
  private String mistake(StringBuilder text) {
    int at = below(text.length() + 1);
    int to = Math.min(text.length(), at + 1 + below(4));
    switch (below(3)) {
      case 0 -> text.delete(at, to);
      case 1 -> text.insert(at, text.substring(at, to));
      default -> text.insert(at, any(HAZARDS));
    }
    return text.toString();
  }

  private void pieces(StringBuilder out, int depth) {
    for (int n = below(4); n >= 0 && size > 0; n--) {
      piece(out, depth);
    }
  }

  private void piece(StringBuilder out, int depth) {
    size--;
    int kind = depth > 4 ? below(45) : below(100);
    if (kind < 22) {
      out.append(chance(4) ? any(HAZARDS) : any(WORDS));
    } else if (kind < 42) {
      out.append(reference());
    } else if (kind < 45) {
      out.append(space()).append(chance(20) ? "$" + any(FAILING) : "#stop".substring(0, chance(10) ? 5 : 0));
    } else if (kind < 57) {
      out.append(space()).append(chance(5) ? "#{set}(" : "#set(").append(gap()).append(target()).append(gap())
          .append('=').append(gap());
      out.append(assignable()).append(gap()).append(')').append(end());
    } else if (kind < 68) {
      branch(out, depth);
    } else if (kind < 77) {
      loop(out, depth);
    } else if (kind < 82) {
      macro(out, depth);
    } else if (kind < 89) {
      call(out, depth);
    } else {
      other(out, depth);
    }
  }

  private String space() {
    return any(List.of("", "", "", "", " ", "  ", "\n", "\n  ", "\t", "\r\n", "$s ", "x "));
  }

  private String gap() {
    return any(List.of("", "", " ", " ", " ", "  ", "\n", "\t"));
  }

  private String end() {
    return any(List.of("", "", "", "\n", "\n", " ", " \n", "\r\n", "\t\n", "## c\n"));
  }

  private void branch(StringBuilder out, int depth) {
    out.append(space()).append(chance(5) ? "#{if}(" : "#if(").append(expression(0)).append(')').append(end());
    pieces(out, depth + 1);
    for (int n = below(3); n > 1; n--) {
      out.append(space()).append("#elseif(").append(expression(0)).append(')').append(end());
      pieces(out, depth + 1);
    }
    if (chance(40)) {
      out.append(space()).append(chance(60) ? "#else" : "#{else}").append(end());
      pieces(out, depth + 1);
    }
    out.append(space()).append(chance(90) ? "#end" : "#{end}").append(end());
  }

  private void loop(StringBuilder out, int depth) {
    if (loops >= 3) {
      return;
    }
    loops++;
    String name = chance(80) ? any(ASSIGNED) : any(List.of("s", "item", "none"));
    out.append(space()).append("#foreach(").append(gap()).append('$').append(name)
        .append(chance(90) ? " in " : "  in\n");
    out.append(chance(70)
        ? "$" + any(List.of("list", "nums", "map", "set", "people", "strings", "opening", "loop", "none1", "emptylist",
        "source", "none", "unknown", "grid", "int", "vector", "failing", "iterator", "list", "nums", "set", "strings"))
        : argument()).append(gap())
        .append(')').append(end());
    pieces(out, depth + 1);
    if (chance(30)) {
      out.append(any(List.of("$foreach.count", "$foreach.index", "$foreach.hasNext", "$foreach.last",
          "#if($foreach.hasNext), #end", "#set($foreach.v = 1)$foreach.v", "$foreach.parent.count", "#break",
          "#if($foreach.count == 2)#break#end", "#break($foreach)", "$foreach.stop()", "$foreach.topmost.index",
          "$foreach.info")));
    }
    if (chance(15)) {
      out.append(space()).append("#else").append(end());
      pieces(out, depth + 1);
    }
    out.append(space()).append("#end").append(end());
    loops--;
  }

  private void macro(StringBuilder out, int depth) {
    if (macros.size() > 3) {
      return;
    }
    String name = "m" + macros.size();
    int held = loops;
    loops = 2;
    out.append(space()).append("#macro(").append(name);
    boolean defaults = false;
    for (int n = below(3); n > 0; n--) {
      defaults |= chance(15);
      out.append(chance(80) ? " $" : ", $").append(any(ASSIGNED)).append(defaults ? "=" + simple() : "");
    }
    out.append(')').append(end());
    pieces(out, depth + 2);
    if (chance(30)) {
      out.append(any(List.of("$bodyContent", "$!bodyContent", "[$bodyContent]$!bodyContent", "$macro.depth",
          "#break")));
    }
    if (chance(5)) {
      out.append('#').append(name).append("()");
    }
    out.append(space()).append("#end").append(end());
    loops = held;
    macros.add(name);
  }

  private void call(StringBuilder out, int depth) {
    String name = macros.isEmpty() || chance(8) ? any(List.of("nomacro", "lib", "lib2")) : any(macros);
    boolean body = chance(25);
    out.append(space()).append(body ? "#@" : "#").append(name);
    if (body || chance(95)) {
      out.append('(').append(gap());
      for (int n = below(4); n > 0; n--) {
        out.append(chance(2) ? "word" : argument()).append(n == 1 ? gap() : chance(70) ? " " : ", ");
      }
      out.append(')');
    }
    if (body) {
      pieces(out, depth + 2);
      out.append(space()).append("#end");
    }
    out.append(end());
  }

  private void other(StringBuilder out, int depth) {
    out.append(space());
    switch (below(7)) {
      case 0 -> {
        out.append("#define($").append(any(ASSIGNED)).append(')').append(end());
        pieces(out, depth + 2);
        out.append(space()).append("#end");
      }
      case 1 -> out.append("#evaluate(")
          .append(any(List.of("'$s'", "\"$s\"", "$vtl", "'#set($a = 1)$a'", "'#if($yes)y#end'", "'#if('", "$unknown",
          "$s", "'$unknown'", "'#break'", "'#lib(1)'", "'x#stop'", "\"#foreach($z in [1,2])$z#end\"",
          "'#foreach($z in [1,2])$z#end'")))
          .append(')');
      case 2 -> out.append("#parse(").append(parts.isEmpty() || chance(10) ? any(List.of("'missing.vm'", "$none", "$s"))
          : '"' + any(parts) + '"').append(')');
      case 3 -> out.append("#include(").append(parts.isEmpty() || chance(10)
          ? any(List.of("'missing.vm'", "$none", "1"))
          : '"' + any(parts) + '"').append(')');
      case 4 -> {
        out.append("#upper()");
        pieces(out, depth + 2);
        out.append("#end");
      }
      case 5 -> out.append("#show(").append(argument()).append(' ').append(argument()).append(')');
      default -> out.append(chance(20) ? "#break" : chance(20) ? "#stop('why')" : "#fill($" + any(ASSIGNED) + ')');
    }
    out.append(end());
  }

  /** Generates a reference in the text. */
  private String reference() {
    String name = chance(25) ? any(ASSIGNED) : any(FIXED);
    String quiet = chance(25) ? "!" : "";
    String path = path(1);
    if (chance(8)) {
      return "${" + name + path + "|" + simple() + "}";
    }
    return chance(30) ? "$" + quiet + "{" + name + path + "}" : "$" + quiet + name + path;
  }

  private String path(int depth) {
    StringBuilder path = new StringBuilder();
    while (chance(35) && path.length() < 60) {
      int kind = below(10);
      if (kind < 4) {
        path.append('.').append(any(PROPERTIES).replace(' ', '_'));
      } else if (kind < 8) {
        path.append('.').append(any(CALLS).replace("$0", simple()).replace("$1", simple()));
      } else {
        path.append('[').append(chance(60) ? any(List.of("0", "1", "-1", "'key'", "5", "$int", "$none", "\"$s\""))
            : "$" + any(FIXED))
            .append(']');
      }
    }
    return path.toString();
  }

  private String target() {
    return chance(70)
        ? "$" + any(ASSIGNED)
        : any(List.of("$q.name", "$q.age", "$q.any", "$map.fresh", "$map['k']", "$nums[0]", "$p.any", "$q.unknown",
        "$unknown.x", "$none.x", "$q.field",
            "$robot.zing", "$q.nothing.x", "$list[-1]", "$s", "${d}", "$!e", "$grid[0][1]", "$bodyContent",
            "$q.friend.name"));
  }

  /** Generates a value for an assignment: at most one of its parts is an assigned name. */
  private String assignable() {
    mayAssign = true;
    String value = chance(50) ? value(0) : expression(0);
    mayAssign = false;
    return value;
  }

  private String name() {
    if (mayAssign && chance(40)) {
      mayAssign = false;
      return any(ASSIGNED);
    }
    return any(FIXED);
  }

  /** Generates an argument that never grows. */
  private String simple() {
    return any(List.of("1", "-1", "'a'", "\"b\"", "true", "$s", "$int", "$none", "$q", "$list", "1.5", "$long", "'12'",
        "\"$s\"", "[1,2]", "$unknown", "{}",
        "'RED'", "$double", "$t", "[1..2]"));
  }

  private String argument() {
    return chance(50) ? simple() : chance(60) ? "$" + any(ASSIGNED) : "$" + any(FIXED) + path(1);
  }

  private String value(int depth) {
    return switch (depth > 2 ? below(6) : below(11)) {
      case 0 -> String.valueOf(below(20) - 5);
      case 1 -> any(List.of("1.5", "0", "0.0", "2147483647", "9223372036854775807", "9223372036854775808", "1e3", "-0",
          "3.0E-2", "-2147483648"));
      case 2, 3 -> "$" + name() + path(depth + 1);
      case 4 -> any(List.of("'a'", "''", "\"\"", "'$s'", "'it''s'", "\"a\"\"b\"", "'é😀'", "\"\\u00e9\"", "'two\nlines'",
          "true", "false"));
      case 5 -> "$!" + name();
      case 6 -> string();
      case 7 -> "[" + value(depth + 2) + (chance(60) ? "," + gap() + value(depth + 2) : "") + "]";
      case 8 -> "{" + (chance(80) ? value(depth + 2) + ":" + gap() + value(depth + 2) : "") + "}";
      case 9 -> "[" + any(List.of("1", "-2", "$zero", "$int", "0", "$none")) + ".."
          + any(List.of("3", "$int", "-1", "$s", "$n")) + "]";
      default -> "(" + expression(depth + 1) + ")";
    };
  }

  private String string() {
    StringBuilder text = new StringBuilder("\"");
    for (int n = below(4); n >= 0; n--) {
      text.append(switch (below(8)) {
        case 0, 1 -> "$" + any(FIXED);
        case 2 -> "${" + any(FIXED) + "}";
        case 3 -> any(List.of("a", " ", "\n", "\\", "''", "\\$s", "#", "$", "é", "\ud83d", "\\u0041", "## c", "\"\""));
        case 4 -> "$!q.name";
        case 5 -> any(List.of("#if($yes)y#end", "#if($no)y#{else}n#end", "#foreach($z in $nums)$z#end", "#[[x]]#",
            "#lib(1)", "#*c*#", "#set($z = 1)"));
        default -> any(List.of("x", "-", "1 "));
      });
    }
    return text.append('"').toString();
  }

  private String expression(int depth) {
    if (depth > 2 || chance(30)) {
      return value(depth);
    }
    return switch (below(6)) {
      case 0 -> (chance(80) ? "!" : "not ") + (chance(50) ? value(depth + 1) : "(" + expression(depth + 1) + ")");
      case 1 -> "-$" + name() + path(depth + 1);
      default -> expression(depth + 1)
          + any(List.of(" + ", " - ", " * ", " / ", " % ", " == ", " != ", " < ", " > ", " <= ", " >= ", " && ", " || ",
          "==", " and ", " or ", " eq ", " lt ", "&&", "*", " ne ", " ge ", "\n&& ", " == ", " || "))
          + expression(depth + 1);
    };
  }
}
