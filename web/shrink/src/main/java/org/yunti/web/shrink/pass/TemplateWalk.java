package org.yunti.web.shrink.pass;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTComment;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTElseIfStatement;
import org.apache.velocity.runtime.parser.node.ASTElseStatement;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTStringLiteral;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.ASTTextblock;
import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.shrink.html.HtmlState;
import org.yunti.web.shrink.html.Places;
import org.yunti.web.shrink.html.WhiteSpace;
import org.yunti.web.shrink.vtl.TextRun;
import org.yunti.web.shrink.vtl.VtlSource;

/**
 * Walk through a template in the order of its text, all branches of it, with the HTML state. It records the places of
 * parts ({@link Places}) and, in edit mode, squeezes the static text.
 *
 * <p>The output of a reference, or of a macro or file outside of the folder, is assumed to be text, whole elements or
 * whole attributes.
 */
public final class TemplateWalk {
  /** Comments that keep the blanks of a part: {@code ## yunti:keep} and {@code ## yunti:squeeze}. */
  private static final String KEEP = "yunti:keep";
  private static final String SQUEEZE = "yunti:squeeze";
  /** Directives that write nothing and open nothing. */
  private static final List<String> SILENT = List.of("break", "stop", "return");
  /** Directives whose block is rendered in place and begins the content of an element. */
  private static final List<String> IN_PLACE = List.of("async", "clientvalue");

  private static final Pattern REFERENCE = Pattern.compile("\\$!?\\{?([A-Za-z_][A-Za-z0-9_-]*)");

  private final Places places;
  private final WhiteSpace whiteSpace;
  private final boolean edits;
  private boolean keeps;

  /**
   * Creates a walk.
   *
   * @param edits true squeezes text; false only records the places of use
   */
  public TemplateWalk(Places places, WhiteSpace whiteSpace, boolean edits) {
    this.places = places;
    this.whiteSpace = whiteSpace;
    this.edits = edits;
  }

  /** Walks a whole template. */
  public void template(String name, Node root) {
    part(Places.file(name), root);
  }

  /** Walks a part that is used elsewhere. */
  private void part(String part, Node body) {
    HtmlState entry = places.entry(part);
    HtmlState end = children(body, entry.copy());
    if (!end.sameAs(entry)) {
      places.opens(part);
    }
  }

  private HtmlState children(Node parent, HtmlState from) {
    HtmlState state = from;
    for (int i = 0; i < parent.jjtGetNumChildren();) {
      Node child = parent.jjtGetChild(i);
      if (child instanceof ASTText) {
        TextRun run = new TextRun(parent, i, whiteSpace.nodesMax());
        text(run, state, run.end() < parent.jjtGetNumChildren() ? parent.jjtGetChild(run.end()) : null, parent);
        i = run.end();
      } else {
        state = node(child, state);
        i++;
      }
    }
    return state;
  }

  /**
   * Walks a run of static text.
   *
   * @param next node after the text; null at the end of its parent
   */
  private void text(TextRun run, HtmlState state, Node next, Node parent) {
    String text = run.text();
    if (keeps || !run.isPlain()) {
      write(text, state);
      return;
    }
    boolean keepsLine = next == null ? parent instanceof ASTBlock : !(next instanceof ASTReference);
    boolean wasBlank = state.endsBlank();
    String squeezed = whiteSpace.squeeze(text, state, keepsLine);
    if (next instanceof ASTSetDirective && whiteSpace.isGobbledBeforeSet(text)) {
      state.endsBlank(wasBlank);
    }
    if (edits && !squeezed.equals(text)) {
      run.replace(squeezed);
    }
  }

  private static void write(String text, HtmlState state) {
    text.chars().forEach(c -> state.next((char) c));
    state.endsBlank(false);
  }

  private HtmlState node(Node node, HtmlState state) {
    if (node instanceof ASTComment comment) {
      comment(comment);
    } else if (node instanceof ASTSetDirective) {
      mentions(node.jjtGetChild(1));
    } else if (node instanceof ASTReference reference) {
      places.use(Places.reference(name(reference)), state);
      for (int i = 0; i < reference.jjtGetNumChildren(); i++) {
        mentions(reference.jjtGetChild(i));
      }
      state.opaque();
    } else if (node instanceof ASTIfStatement) {
      return branches(node, state);
    } else if (node instanceof ASTDirective directive) {
      return directive(directive, state);
    } else if (node instanceof ASTTextblock) {
      String image = VtlSource.text(node);
      write(image.substring(3, image.length() - 3), state);
    } else {
      state.opaque();
    }
    return state;
  }

  /** Returns {@code name} of {@code $!{name.other}}. A tree that is not initialised lacks it. */
  private static String name(ASTReference reference) {
    String text = VtlSource.text(reference);
    int from = 0;
    while (from < text.length() && !Character.isJavaIdentifierStart(text.charAt(from)) || from < text.length()
        && text.charAt(from) == '$') {
      from++;
    }
    int end = from;
    while (end < text.length() && (Character.isJavaIdentifierPart(text.charAt(end)) || text.charAt(end) == '-')) {
      end++;
    }
    return text.substring(from, end);
  }

  private void comment(ASTComment comment) {
    String text = VtlSource.text(comment);
    keeps = text.contains(KEEP) || keeps && !text.contains(SQUEEZE);
  }

  private HtmlState branches(Node statement, HtmlState state) {
    HtmlState all = null;
    boolean hasElse = false;
    for (int i = 1; i < statement.jjtGetNumChildren(); i++) {
      Node child = statement.jjtGetChild(i);
      Node block = child instanceof ASTElseIfStatement ? child.jjtGetChild(1) : child instanceof ASTElseStatement
          ? child.jjtGetChild(0)
          : child;
      hasElse |= child instanceof ASTElseStatement;
      HtmlState end = children(block, state.copy());
      all = all == null ? end : all.join(end);
    }
    return all == null ? state : hasElse ? all : all.join(state);
  }

  private HtmlState directive(ASTDirective directive, HtmlState state) {
    String name = directive.getDirectiveName();
    Node last = directive.jjtGetNumChildren() == 0 ? null : directive.jjtGetChild(directive.jjtGetNumChildren() - 1);
    Node block = last instanceof ASTBlock ? last : null;
    if (SILENT.contains(name)) {
      return state;
    }
    switch (name) {
      case "foreach" -> {
        return loop(directive, state);
      }
      case "macro" -> {
        part(Places.macro(directive.jjtGetNumChildren() == 0 ? "" : VtlSource.text(directive.jjtGetChild(0))),
            block == null ? directive
            : block);
        return state;
      }
      case "define" -> {
        part(Places.reference(VtlSource.text(directive.jjtGetChild(0)).replaceAll("[${}!]", "")), block == null
            ? directive : block);
        return state;
      }
      case "parse", "include" -> {
        return file(directive, state);
      }
      default -> {
        mentions(directive);
        if (block != null) {
          block(name, block, state);
        }
        return call(name, state);
      }
    }
  }

  /** Records the references in arguments: a macro, method or variable may write them anywhere. */
  private void mentions(Node node) {
    if (node instanceof ASTReference reference) {
      places.use(Places.reference(name(reference)), new HtmlState(HtmlState.Mode.UNKNOWN));
    } else if (node instanceof ASTStringLiteral) {
      Matcher inside = REFERENCE.matcher(VtlSource.text(node));
      while (inside.find()) {
        places.use(Places.reference(inside.group(1)), new HtmlState(HtmlState.Mode.UNKNOWN));
      }
    }
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      if (!(node.jjtGetChild(i) instanceof ASTBlock)) {
        mentions(node.jjtGetChild(i));
      }
    }
  }

  private HtmlState loop(Node loop, HtmlState state) {
    HtmlState before = places.loopEnd(loop);
    HtmlState end = before == null ? state : state.join(before);
    int blocks = 0;
    for (int i = 0; i < loop.jjtGetNumChildren(); i++) {
      if (loop.jjtGetChild(i) instanceof ASTBlock block) {
        if (blocks++ == 0) {
          HtmlState behind = children(block, end.copy());
          places.loopEnd(loop, behind);
          end = state.join(behind);
        } else {
          end = end.join(children(block, state.copy()));
        }
      }
    }
    return end;
  }

  /** Walks the body of a custom directive or macro. */
  private void block(String name, Node block, HtmlState state) {
    if (IN_PLACE.contains(name)) {
      HtmlState entry = state.mode() == HtmlState.Mode.DATA && state.squeezes() ? new HtmlState()
          : new HtmlState(HtmlState.Mode.UNKNOWN);
      children(block, entry);
    } else {
      String body = Places.reference("bodyContent");
      children(block, name.startsWith("@") && places.isUsed(body) ? places.entry(body)
          : new HtmlState(HtmlState.Mode.UNKNOWN));
    }
  }

  private HtmlState file(Node directive, HtmlState state) {
    boolean isInclude = ((ASTDirective) directive).getDirectiveName().equals("include");
    for (int i = 0; i < directive.jjtGetNumChildren(); i++) {
      Node argument = directive.jjtGetChild(i);
      String text = VtlSource.text(argument);
      boolean isKnown = argument instanceof ASTStringLiteral && text.indexOf('$') < 0 && text.length() > 1;
      String part = isKnown ? Places.file(text.substring(1, text.length() - 1).replaceFirst("^/", ""))
          : Places.file("*");
      if (!isInclude) {
        places.use(part, state);
      }
      if (!isInclude && places.isOpening(part)) {
        state.unknown();
      } else {
        state.opaque();
      }
    }
    return state;
  }

  private HtmlState call(String name, HtmlState state) {
    String part = Places.macro(name.startsWith("@") ? name.substring(1) : name);
    places.use(part, state);
    if (places.isOpening(part)) {
      state.unknown();
    } else {
      state.opaque();
    }
    return state;
  }
}
