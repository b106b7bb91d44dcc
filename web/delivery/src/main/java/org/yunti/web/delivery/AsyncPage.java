package org.yunti.web.delivery;

import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.velocity.Template;
import org.apache.velocity.context.Context;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * One page whose {@code #async} blocks come when they are ready:
 *
 * <pre>
 *   &lt;div id=y1&gt;placeholder&lt;/div&gt; .. &lt;/html&gt;         the page leaves, and is flushed
 *   &lt;template id=y1t&gt;block&lt;/template&gt;&lt;script&gt;..        each block behind it, in the order in which they are ready
 * </pre>
 *
 * <p>A block that fails, that is not ready in its time, or whose task the executor refuses, becomes the error text of its settings and a
 * line of the log. The thread of a block that is late is not interrupted. Rendered by one thread, used once.
 */
public final class AsyncPage {
  /** In the context while such a page is rendered. */
  static final String KEY = "yunti.async.page";
  private static final Logger LOG = LoggerFactory.getLogger(AsyncPage.class);
  /** Puts what a template element has into the place of the placeholder. */
  private static final String MOVE = "(function(i){var t=document.getElementById(i+\"t\"),p=document.getElementById(i);"
      + "p.replaceWith(t.content);t.remove();document.currentScript.remove()})";

  /** Asks for a block and puts it, or the error text where it cannot be had, into the place of the placeholder. */
  private static final String FETCH = "(function(i,u,e){fetch(u).then(function(r){return r.ok?r.text():e},function(){return e})"
      + ".then(function(h){document.getElementById(i).outerHTML=h});document.currentScript.remove()})";

  private final Executor executor;
  private final Settings defaults;
  private final String nonce;
  /** Where blocks are fetched from; null: they come behind the page. */
  private final AsyncFragments fragments;
  private final Map<Integer, Waiting> waiting = new HashMap<>();
  private final BlockingQueue<Waiting> ready = new LinkedBlockingQueue<>();
  private int blocks;

  /**
   * Of a block.
   *
   * @param placeholder HTML that stands in its place until it comes
   * @param error HTML that takes its place when it fails or is late
   * @param timeoutMillis counted from where the page comes to it
   */
  public record Settings(String placeholder, String error, long timeoutMillis) {}

  /** Renders a block. */
  interface Block {
    void render(Writer writer) throws IOException;
  }

  private static final class Waiting {
    final int number;
    final Settings settings;
    final long untilNanos;
    /** What it has written; null: it has failed, or is not ready. */
    volatile String html;

    Waiting(int number, Settings settings) {
      this.number = number;
      this.settings = settings;
      untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.timeoutMillis());
    }
  }

  /** @param executor renders blocks; bounded, since each page may bring several */
  public AsyncPage(Executor executor, Settings defaults) {
    this(executor, defaults, null, null);
  }

  /**
   * @param nonce of the page's content security policy, which its scripts are given; null: none
   * @param fragments where the reader asks for the blocks, so that the page itself ends at once; null: they come behind the page
   */
  public AsyncPage(Executor executor, Settings defaults, String nonce, AsyncFragments fragments) {
    if (nonce != null && !nonce.matches("[A-Za-z0-9+/_=-]+")) {
      throw new IllegalArgumentException("a nonce is of base64");
    }
    this.executor = executor;
    this.defaults = defaults;
    this.nonce = nonce;
    this.fragments = fragments;
  }

  Settings defaults() {
    return defaults;
  }

  /** Renders the page, flushes it, then writes its blocks as they come. Returns when the last is there or is given up. */
  public void render(Template template, Context context, ByteWriter out) throws IOException {
    Object before = context.put(KEY, this);
    try {
      template.merge(context, out);
    } finally {
      if (before == null) {
        context.remove(KEY);
      } else {
        context.put(KEY, before);
      }
    }
    if (!waiting.isEmpty()) {
      out.flush();
    }
    while (!waiting.isEmpty()) {
      Waiting next = next();
      if (next == null) {
        giveUp(out);
      } else if (waiting.remove(next.number) != null) {
        write(out, next, next.html);
        if (ready.isEmpty()) {
          out.flush();
        }
      }
    }
  }

  /** The next block that is ready before the first of them is late. */
  private Waiting next() throws IOException {
    long until = waiting.values().stream().mapToLong(w -> w.untilNanos - System.nanoTime()).min().orElse(0);
    try {
      return until <= 0 ? ready.poll() : ready.poll(until, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while blocks of a page were waited for", e);
    }
  }

  private void giveUp(ByteWriter out) throws IOException {
    long now = System.nanoTime();
    for (Iterator<Waiting> all = waiting.values().iterator(); all.hasNext();) {
      Waiting late = all.next();
      if (late.untilNanos - now <= 0) {
        all.remove();
        LOG.warn("block {} of a page is not ready within {} ms", late.number, late.settings.timeoutMillis());
        write(out, late, null);
      }
    }
    out.flush();
  }

  private void write(ByteWriter out, Waiting block, String html) throws IOException {
    String id = "yunti-async-" + block.number;
    out.write("<template id=\"" + id + "t\">");
    out.write(html == null ? block.settings.error() : html);
    out.write("</template>" + script() + MOVE + "(\"" + id + "\")</script>\n");
  }

  /** The page has come to a block. */
  void add(Writer writer, Settings settings, Block block) throws IOException {
    Waiting added = new Waiting(++blocks, settings);
    String id = "yunti-async-" + added.number;
    writer.write("<div id=\"" + id + "\">" + settings.placeholder() + "</div>");
    if (fragments != null) {
      String path = fragments.add(executor, settings, block);
      writer.write(script() + FETCH + "(\"" + id + "\",\"" + path + "\",\"");
      new LiteralWriter(writer).write(settings.error());
      writer.write("\")</script>");
      return;
    }
    waiting.put(added.number, added);
    try {
      CompletableFuture.runAsync(() -> run(added, block), executor);
    } catch (RuntimeException e) {
      LOG.error("block {} of a page is not rendered: its executor refuses it", added.number, e);
      ready.add(added);
    }
  }

  private String script() {
    return nonce == null ? "<script>" : "<script nonce=\"" + nonce + "\">";
  }

  private void run(Waiting block, Block body) {
    try {
      StringWriter html = new StringWriter();
      body.render(html);
      block.html = html.toString();
    } catch (IOException | RuntimeException e) {
      LOG.error("block {} of a page has failed", block.number, e);
    } finally {
      ready.add(block);
    }
  }
}
