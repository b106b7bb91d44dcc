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
 * Store of blocks of sent pages, each under a random path that works once. The server of these paths calls {@link
 * #take}:
 *
 * <pre>
 *   AsyncFragments fragments = new AsyncFragments("/fragments/", 10_000);
 *   server.createContext("/fragments/", exchange -&gt;
 *       answer(exchange, fragments.take(exchange.getRequestURI().getPath())));
 * </pre>
 *
 * <p>Above the maximum number the oldest block is dropped, so memory stays bounded if browsers do not fetch them. The
 * blocks are in this process, so requests must reach the same process. Thread-safe.
 */
public final class AsyncFragments {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncFragments.class);
  private static final int TOKEN_BYTES = 16;

  private final String prefix;
  private final int max;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, CompletableFuture<String>> byPath = new LinkedHashMap<>();

  /**
   * Creates a store.
   *
   * @param prefix prefix of the paths: / and then letters, digits and {@code /._-}
   * @param max blocks kept at most
   * @throws IllegalArgumentException if the prefix has other characters
   */
  public AsyncFragments(String prefix, int max) {
    if (!prefix.matches("/[A-Za-z0-9/._-]*")) {
      throw new IllegalArgumentException("a prefix of paths must begin with / and have only letters, digits and /._-: "
          + prefix);
    }
    this.prefix = prefix;
    this.max = max;
  }

  /**
   * Starts a block.
   *
   * @return the path of the block
   */
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
    CompletableFuture<String> answer = html.orTimeout(settings.timeoutMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(e -> {
      LOG.error("a block of a page has failed or is late", e);
      return settings.error();
    });
    synchronized (byPath) {
      byPath.put(path, answer);
      for (Iterator<String> oldest = byPath.keySet().iterator(); byPath.size() > max; oldest = byPath.keySet()
          .iterator()) {
        oldest.next();
        oldest.remove();
      }
    }
    return path;
  }

  /**
   * Returns the block of a path, and waits for it up to its timeout. A block that failed is its error text.
   *
   * @return null if there is no such block, or it has been taken
   */
  public String take(String path) {
    CompletableFuture<String> html;
    synchronized (byPath) {
      html = byPath.remove(path);
    }
    return html == null ? null : html.join();
  }
}
