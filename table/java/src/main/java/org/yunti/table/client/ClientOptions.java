package org.yunti.table.client;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.yunti.table.client.wire.Tls;

/** Choices of {@link TableClient#connect}. Each method returns a changed copy. */
public final class ClientOptions implements Cloneable {
  private static final int CONNECTIONS = 4;
  private static final ClientOptions USUAL = new ClientOptions();

  private String token = "";
  private Tls tls;
  private Duration connectTimeout = Duration.ofSeconds(3);
  private Duration requestTimeout = Duration.ofSeconds(10);
  private int connections = CONNECTIONS;
  private List<String> columns;

  private ClientOptions() {
  }

  /** Returns the usual choices: no token, no TLS, all columns, 3 s to connect, and 10 s for a response. */
  public static ClientOptions usual() {
    return USUAL;
  }

  private ClientOptions copy() {
    try {
      return (ClientOptions) clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** Sets the token of the servers; "" is none. */
  public ClientOptions token(String token) {
    ClientOptions changed = copy();
    changed.token = token;
    return changed;
  }

  /** Sets that TCP is within TLS, and that the certificates that the JDK trusts are trusted. */
  public ClientOptions tls() {
    ClientOptions changed = copy();
    changed.tls = Tls.of(null);
    return changed;
  }

  /**
   * Sets that TCP is within TLS, and that these certificates are trusted.
   *
   * @param certificates a PEM file
   */
  public ClientOptions tls(Path certificates) {
    ClientOptions changed = copy();
    changed.tls = Tls.of(certificates);
    return changed;
  }

  /** Sets the time for a connection and TLS; 3 s as a rule. */
  public ClientOptions connectTimeout(Duration timeout) {
    ClientOptions changed = copy();
    changed.connectTimeout = positive(timeout);
    return changed;
  }

  /** Sets the time for a response; 10 s as a rule. Then another server of the shard gets the request. */
  public ClientOptions requestTimeout(Duration timeout) {
    ClientOptions changed = copy();
    changed.requestTimeout = positive(timeout);
    return changed;
  }

  private static Duration positive(Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("a timeout of " + timeout + " is none; set a longer one");
    }
    return timeout;
  }

  /** Sets the most connections to each server; 4 as a rule. More threads than these wait for one another. */
  public ClientOptions connections(int connections) {
    if (connections < 1) {
      throw new IllegalArgumentException(connections + " connections are too few; set 1 or more");
    }
    ClientOptions changed = copy();
    changed.connections = connections;
    return changed;
  }

  /** Sets the columns of rows, in this order: all as a rule. Servers send no others. */
  public ClientOptions columns(String... columns) {
    if (columns.length == 0) {
      throw new IllegalArgumentException("rows have one column at least");
    }
    ClientOptions changed = copy();
    changed.columns = Collections.unmodifiableList(new ArrayList<>(Arrays.asList(columns)));
    return changed;
  }

  String token() {
    return token;
  }

  Tls tlsOrNull() {
    return tls;
  }

  Duration connectTimeout() {
    return connectTimeout;
  }

  Duration requestTimeout() {
    return requestTimeout;
  }

  int connections() {
    return connections;
  }

  /** Returns null for all columns. */
  List<String> columns() {
    return columns;
  }
}
