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
 * Page whose {@code #async} blocks arrive when they are ready:
 *
 * <pre>
 *   &lt;div id=y1&gt;placeholder&lt;/div&gt; .. &lt;/html&gt;         the page, flushed
 *   &lt;template id=y1t&gt;block&lt;/template&gt;&lt;script&gt;..        each block after it, in order of completion
 * </pre>
 *
 * <p>A block becomes the error text of its settings, with a line of the log, if it fails or is late, or if the executor
 * refuses its task. The thread of a late block is not interrupted. One thread renders the page; use it once.
 */
public final class AsyncPage {
  /** Key of the page in the context while it is rendered. */
  static final String KEY = "yunti.async.page";
  private static final Logger LOG = LoggerFactory.getLogger(AsyncPage.class);
  /** Script that moves the content of a template element to the placeholder. */
  private static final String MOVE = "(function(i){var t=document.getElementById(i+\"t\"),p=document.getElementById(i);"
      + "p.replaceWith(t.content);t.remove();document.currentScript.remove()})";

  /** Script that fetches a block and replaces the placeholder by it, or by the error text if the request fails. */
  private static final String FETCH =
      "(function(i,u,e){fetch(u).then(function(r){return r.ok?r.text():e},function(){return e})"
      + ".then(function(h){document.getElementById(i).outerHTML=h});document.currentScript.remove()})";

  private final Executor executor;
  private final Settings defaults;
  private final String nonce;
  /** Store of blocks that browsers fetch; null: the blocks follow the page. */
  private final AsyncFragments fragments;
  private final Map<Integer, PendingBlock> waiting = new HashMap<>();
  private final BlockingQueue<PendingBlock> ready = new LinkedBlockingQueue<>();
  private int blocks;

  /**
   * Settings of a block.
   *
   * @param placeholder HTML shown until the block arrives
   * @param error HTML shown if the block fails or is late
   * @param timeoutMillis milliseconds from the moment the page reaches the block
   */
  public record Settings(String placeholder, String error, long timeoutMillis) {}

  /** Renderer of a block. */
  interface Block {
    void render(Writer writer) throws IOException;
  }

  private static final class PendingBlock {
    final int number;
    final Settings settings;
    final long untilNanos;
    /** Output of the block; null if it failed or is not ready. */
    volatile String html;

    PendingBlock(int number, Settings settings) {
      this.number = number;
      this.settings = settings;
      untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.timeoutMillis());
    }
  }

  /**
   * Creates a page whose blocks follow it in the same response.
   *
   * @param executor executor of the blocks; bounded, because each page may have several
   * @param defaults settings for blocks without arguments
   */
  public AsyncPage(Executor executor, Settings defaults) {
    this(executor, defaults, null, null);
  }

  /**
   * Creates a page.
   *
   * @param executor executor of the blocks; bounded, because each page may have several
   * @param defaults settings for blocks without arguments
   * @param nonce nonce of the page's content security policy for its scripts; null: none
   * @param fragments store from which the browser fetches the blocks, so the page ends at once; null: the blocks follow
   *     the page
   * @throws IllegalArgumentException if the nonce has characters outside of base64
   */
  public AsyncPage(Executor executor, Settings defaults, String nonce, AsyncFragments fragments) {
    if (nonce != null && !nonce.matches("[A-Za-z0-9+/_=-]+")) {
      throw new IllegalArgumentException("a nonce must have base64 characters only");
    }
    this.executor = executor;
    this.defaults = defaults;
    this.nonce = nonce;
    this.fragments = fragments;
  }

  Settings defaults() {
    return defaults;
  }

  /**
   * Renders the page, flushes it, then writes its blocks as they complete. Returns when the last block is written or
   * given up.
   *
   * @throws IOException if the stream fails, or the thread is interrupted
   */
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
      PendingBlock next = next();
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

  /** Returns the next block that is ready; null when the first of them is late. */
  private PendingBlock next() throws IOException {
    long until = waiting.values().stream().mapToLong(w -> w.untilNanos - System.nanoTime()).min().orElse(0);
    try {
      return until <= 0 ? ready.poll() : ready.poll(until, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for blocks of a page", e);
    }
  }

  private void giveUp(ByteWriter out) throws IOException {
    long now = System.nanoTime();
    for (Iterator<PendingBlock> all = waiting.values().iterator(); all.hasNext();) {
      PendingBlock late = all.next();
      if (late.untilNanos - now <= 0) {
        all.remove();
        LOG.warn("block {} of a page is not ready within {} ms", late.number, late.settings.timeoutMillis());
        write(out, late, null);
      }
    }
    out.flush();
  }

  private void write(ByteWriter out, PendingBlock block, String html) throws IOException {
    String id = "yunti-async-" + block.number;
    out.write("<template id=\"" + id + "t\">");
    out.write(html == null ? block.settings.error() : html);
    out.write("</template>" + script() + MOVE + "(\"" + id + "\")</script>\n");
  }

  /** Starts a block and writes its placeholder. */
  void add(Writer writer, Settings settings, Block block) throws IOException {
    PendingBlock added = new PendingBlock(++blocks, settings);
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

  private void run(PendingBlock block, Block body) {
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
