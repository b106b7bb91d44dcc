package org.yunti.table.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.yunti.table.SharedTable;
import org.yunti.table.Table;
import org.yunti.table.client.ClientOptions;
import org.yunti.table.client.TableClient;

/**
 * Settings of one table, {@code yunti.tables.NAME}.
 *
 * @param name the name of the table, and of its bean
 * @param file the table's file, or null
 * @param servers addresses of its servers, without a file
 * @param token token of the servers; default none
 * @param tls true for TLS; default true if there are certificates
 * @param certificates PEM file of the certificates that are trusted; default those of the JDK
 * @param columns columns of rows from servers; default all
 */
record TableSettings(String name, Path file, List<String> servers, String token, boolean tls, Path certificates,
    List<String> columns) {
  private static final String TABLES = "yunti.tables";
  private static final String INTERVAL = "yunti.table-check-interval";
  private static final Duration INTERVAL_DEFAULT = Duration.ofSeconds(5);

  TableSettings {
    if ((file == null) == servers.isEmpty()) {
      throw new IllegalArgumentException(property(name) + (file == null ? " has neither a file nor servers"
          : " has a file and servers") + "; set one of " + property(name) + " and " + property(name) + ".servers");
    }
  }

  private static String property(String name) {
    return TABLES + "." + name;
  }

  /** Reads the settings of all tables. */
  static List<TableSettings> of(Environment environment) {
    Binder binder = Binder.get(environment);
    Map<String, String> all = binder.bind(TABLES, Bindable.mapOf(String.class, String.class)).orElse(Map.of());
    Collection<String> names = new LinkedHashSet<>();
    for (String key : all.keySet()) {
      // The map of texts has users.servers as a key too.
      names.add(key.contains(".") ? key.substring(0, key.indexOf('.')) : key);
    }
    return names.stream().map(name -> of(all, name)).toList();
  }

  private static TableSettings of(Map<String, String> all, String name) {
    String file = all.getOrDefault(name, "");
    String certificates = all.getOrDefault(name + ".certificates", "");
    return new TableSettings(name, path(file), list(all, name + ".servers"), all.getOrDefault(name + ".token", ""),
        Boolean.parseBoolean(all.getOrDefault(name + ".tls", Boolean.toString(!certificates.isEmpty()))),
        path(certificates), list(all, name + ".columns"));
  }

  private static Path path(String text) {
    return text.isEmpty() ? null : Path.of(text);
  }

  /** Returns values with commas between them, or those of a list: {@code servers[0]}, which is servers.0 here. */
  private static List<String> list(Map<String, String> all, String key) {
    List<String> list = new ArrayList<>();
    for (String one : all.getOrDefault(key, "").split(",")) {
      list.add(one.trim());
    }
    for (int i = 0; all.containsKey(key + "." + i); i++) {
      list.add(all.get(key + "." + i));
    }
    list.removeIf(String::isEmpty);
    return list;
  }

  static Duration interval(Environment environment) {
    return Binder.get(environment).bind(INTERVAL, Duration.class).orElse(INTERVAL_DEFAULT);
  }

  Class<? extends Table> type() {
    return file == null ? TableClient.class : SharedTable.class;
  }

  Table open() {
    if (file != null) {
      try {
        return SharedTable.open(file);
      } catch (IOException e) {
        throw new UncheckedIOException(property(name) + ": " + file + " cannot be opened (" + e + "); name a file of "
            + "yunti table build", e);
      }
    }
    ClientOptions options = ClientOptions.usual().token(token);
    options = !tls ? options : certificates == null ? options.tls() : options.tls(certificates);
    options = columns.isEmpty() ? options : options.columns(columns.toArray(new String[0]));
    return TableClient.connect(name, options, servers.toArray(new String[0]));
  }
}
