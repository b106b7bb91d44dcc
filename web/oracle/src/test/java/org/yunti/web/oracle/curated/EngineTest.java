package org.yunti.web.oracle.curated;

import java.io.StringWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.context.Context;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Journal;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/** Tests of actions on an engine between pages: reload on change, encodings, its other methods. */
class EngineTest {
  private static final Supplier<Context> MODEL = () -> Model.context(0);

  @TestFactory
  Stream<DynamicTest> engine() {
    return Stream.of(reload(), reloadOfPart(), reloadToMistake(), reloadOfMacros(), reloadOfLibrary(true),
        reloadOfLibrary(false),
            noCache(), encodings(), defaultEncoding(), byteOrderMark(), invoke(), evaluate(), mergeWithLibraries(),
            missing(), chained(), inner(),
            properties(), longTexts(), manyReferences(), deepNesting())
        .map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  private static Case of(String name, String main) {
    return new Case("engine/" + name).main(main).page(MODEL, Sinks.WRITER).page(MODEL, Sinks.UTF_8);
  }

  private static Case.Change put(String name, String content) {
    return (engine, loader) -> loader.put(name, content);
  }

  private static Case changed(Case c, String name, String content) {
    return c.page(Case.MAIN, MODEL, Sinks.WRITER, put(name, content)).page(MODEL, Sinks.UTF_8);
  }

  private static Case watched(String name, String main) {
    return of(name, main).property("resource.loader.memory.modification_check_interval", "0");
  }

  private static Case reload() {
    Case c = of("reload is not requested", "one $s");
    return changed(c.property("resource.loader.memory.modification_check_interval", "-1"), Case.MAIN, "two $i");
  }

  private static Case reloadOfPart() {
    Case c = watched("reload of a part", "main #parse('part.vm') #include('part.vm')").template("part.vm", "one $s");
    return changed(changed(c, "part.vm", "two $i"), "part.vm", "three $unknown");
  }

  private static Case reloadToMistake() {
    return changed(changed(watched("reload to a mistake and back", "one $s"), Case.MAIN, "two #if("), Case.MAIN,
        "three $q.name");
  }

  private static Case reloadOfMacros() {
    Case c = watched("reload of a template's macros", "#macro(m)one#end#m()");
    return changed(changed(c, Case.MAIN, "#macro(m)two#end#m()"), Case.MAIN, "#m() without");
  }

  private static Case reloadOfLibrary(boolean auto) {
    Case c = watched("reload of a library " + auto, "#lib() #lib2()").template("lib.vm", "#macro(lib)one#end");
    c.property("velocimacro.library.path", "lib.vm").property("velocimacro.library.autoreload", String.valueOf(auto));
    return changed(changed(c, "lib.vm", "#macro(lib)two#end#macro(lib2)new#end"), "lib.vm",
        "#macro(lib)three $unknown#end");
  }

  private static Case noCache() {
    Case c = of("no cache", "one #macro(m)1#end#m()").property("resource.loader.memory.cache", "false");
    return changed(c, Case.MAIN, "two #macro(m)2#end#m()");
  }

  private static Case encodings() {
    String text = "\u00e9 $s #if($yes)\u00df#end #parse('part.vm')";
    Case c = new Case("engine/encodings").main(text);
    for (Charset charset : List.of(StandardCharsets.ISO_8859_1, StandardCharsets.UTF_16LE, StandardCharsets.UTF_8)) {
      String name = charset.name() + ".vm";
      c.template(name, text.getBytes(charset));
      // Velocity reads the part in the encoding of the template that parses it.
      c.template("part.vm", "part \u00e9".getBytes(StandardCharsets.ISO_8859_1));
      c.page(name, charset.name(), MODEL, Sinks.WRITER, (engine, loader) -> {});
      c.page(name, charset.name(), MODEL, Sinks.UTF_8, (engine, loader) -> {});
      c.page(name, charset.name(), MODEL, Sinks.LATIN_1, (engine, loader) -> {});
    }
    return c.page("UTF-8.vm", "no-such-encoding", MODEL, Sinks.WRITER, (engine, loader) -> {});
  }

  private static Case defaultEncoding() {
    Case c = new Case("engine/default encoding")
        .template(Case.MAIN, "\u00e9$s#include('part.vm')".getBytes(StandardCharsets.ISO_8859_1));
    c.template("part.vm", "\u00e9".getBytes(StandardCharsets.ISO_8859_1))
        .property("resource.default_encoding", "ISO-8859-1");
    return c.page(Case.MAIN, "ISO-8859-1", MODEL, Sinks.UTF_8, (engine, loader) -> {});
  }

  private static Case byteOrderMark() {
    return of("byte order mark", "\ufeff$s \ufeff#if($yes)a#end");
  }

  private static Case note(Case c, String what, Function<VelocityEngine, String> call) {
    return c.page(Case.MAIN, MODEL, Sinks.WRITER, (engine, loader) -> Journal.note(what + ' ' + call.apply(engine)));
  }

  private static Case invoke() {
    Case c = of("macro invoked by the engine", "#macro(m $a)[$a $s $bodyContent]#end")
        .property("velocimacro.library.path", "lib.vm");
    c.template("lib.vm", "#macro(lib $s)lib $s#end");
    note(c, "lib", engine -> {
      StringWriter out = new StringWriter();
      return engine.invokeVelocimacro("lib", "tag", new String[] {"s"}, MODEL.get(), out) + out.toString();
    });
    return note(c, "unknown", engine -> {
      StringWriter out = new StringWriter();
      return engine.invokeVelocimacro("nolib", "tag", new String[] {"s"}, MODEL.get(), out) + out.toString();
    });
  }

  private static Case evaluate() {
    Case c = of("evaluate by the engine", "#macro(m)of main#end$s").property("velocimacro.library.path", "lib.vm");
    c.template("lib.vm", "#macro(lib)lib $s#end");
    return note(c, "evaluated", engine -> {
      StringWriter out = new StringWriter();
      return engine.evaluate(MODEL.get(), out, "tag", "#m()#lib()#parse('main.vm') $unknown #set($x = 1)$x")
          + out.toString();
    });
  }

  private static Case mergeWithLibraries() {
    Case c = of("merge with libraries", "#a()#b()").template("a.vm", "#macro(a)a#end")
        .template("b.vm", "#macro(b)b#end");
    c.property("velocimacro.inline.local_scope", "true");
    return note(c, "merged", engine -> {
      StringWriter out = new StringWriter();
      engine.getTemplate(Case.MAIN).merge(MODEL.get(), out, List.of("a.vm", "b.vm"));
      return out.toString();
    });
  }

  private static Case missing() {
    return new Case("engine/missing template").main("x").page("missing.vm", MODEL, Sinks.WRITER, (engine, loader) -> {})
        .page(MODEL, Sinks.UTF_8);
  }

  private static Case chained() {
    String main =
        "$s $x #set($s = 'new')$s #set($fresh = 1)#foreach($x in [1])$x#end$x #macro(m $x)$x#end#m(2)$x"
            + " #if($unknown)a#end";
    Case c = new Case("engine/chained contexts").main(main);
    Map<String, Object> values = Map.of("x", "inner x");
    c.page(() -> new VelocityContext(new VelocityContext(values, MODEL.get())), Sinks.WRITER);
    return c.page(null, Sinks.WRITER).page(null, Sinks.UTF_8);
  }

  /** Returns a case in which the template and the context stay, and a name's value changes its class. */
  private static Case inner() {
    Case c = new Case("engine/another class under a name")
        .main("$x.name $x.model $x.get('a') $!x.text('b') $x.size() #if($x.model)m#end");
    c.property("event_handler.invalid_references.class", EventHandlers.Invalid.class.getName());
    Context[] shared = new Context[1];
    c.page(() -> shared[0] = Model.context(0), Sinks.WRITER);
    for (String name : List.of("robot", "q", "map", "list", "none", "robot", "q")) {
      c.page(Case.MAIN, null, Sinks.WRITER, (engine, loader) -> shared[0].put("x", shared[0].get(name)));
    }
    return c;
  }

  private static Case properties() {
    Case c = of("properties that are set too late", "$unknown #if($empty)a#end $s");
    return c.page(Case.MAIN, MODEL, Sinks.WRITER, (engine, loader) -> {
      engine.setProperty("directive.if.empty_check", "false");
      loader.put("later.vm", "#if($empty)a#end");
    }).page("later.vm", MODEL, Sinks.WRITER, (engine, loader) -> {});
  }

  private static Case longTexts() {
    return of("long texts", "\u4e2d$s".repeat(3_000) + "x".repeat(70_000) + "$i" + "\ud83d\ude00".repeat(40_000));
  }

  private static Case manyReferences() {
    return of("many references", "$s $q.name $unknown #if($i > 3)a#end #set($x = 1 + $i)".repeat(500));
  }

  private static Case deepNesting() {
    return of("deep nesting", "#if($yes)#foreach($x in [1])".repeat(60) + "$s" + "#end#end".repeat(60));
  }
}
