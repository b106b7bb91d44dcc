package org.yunti.web.delivery;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks of pages that have left, each under a path that only its reader knows, once. What answers those paths asks {@link #take}:
 *
 * <pre>
 *   AsyncFragments fragments = new AsyncFragments("/fragments/", 10_000);
 *   server.createContext("/fragments/", exchange -&gt; answer(exchange, fragments.take(exchange.getRequestURI().getPath())));
 * </pre>
 *
 * <p>Of more than the largest number, the oldest is forgotten: memory stays bounded when nobody comes for them. They live in this process,
 * so that a reader must come back to it.
 */
public final class AsyncFragments {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncFragments.class);
  private static final int TOKEN_BYTES = 16;

  private final String prefix;
  private final int max;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, CompletableFuture<String>> byPath = new LinkedHashMap<>();

  /** @param prefix of the paths, which needs no escaping in HTML and in JavaScript */
  public AsyncFragments(String prefix, int max) {
    if (!prefix.matches("/[A-Za-z0-9/._-]*")) {
      throw new IllegalArgumentException("a prefix of paths begins with / and has letters, digits and /._- alone: " + prefix);
    }
    this.prefix = prefix;
    this.max = max;
  }

  /** @return the path under which the block will be */
  String add(Executor executor, AsyncPage.Settings settings, AsyncPage.Block block) {
    byte[] token = new byte[TOKEN_BYTES];
    random.nextBytes(token);
    String path = prefix + HexFormat.of().formatHex(token);
    CompletableFuture<String> html;
    try {
      html = CompletableFuture.supplyAsync(() -> {
        StringWriter text = new StringWriter();
        try {
          block.render(text);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        return text.toString();
      }, executor);
    } catch (RejectedExecutionException e) {
      html = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<String> answer = html.orTimeout(settings.timeoutMillis(), TimeUnit.MILLISECONDS).exceptionally(e -> {
      LOG.error("a block of a page has failed or is late", e);
      return settings.error();
    });
    synchronized (byPath) {
      byPath.put(path, answer);
      for (Iterator<String> oldest = byPath.keySet().iterator(); byPath.size() > max; oldest = byPath.keySet().iterator()) {
        oldest.next();
        oldest.remove();
      }
    }
    return path;
  }

  /**
   * The block of a path, waited for no longer than its timeout, with its error text when it has failed.
   *
   * @return null: there is none, or it has been taken
   */
  public String take(String path) {
    CompletableFuture<String> html;
    synchronized (byPath) {
      html = byPath.remove(path);
    }
    return html == null ? null : html.join();
  }
}
