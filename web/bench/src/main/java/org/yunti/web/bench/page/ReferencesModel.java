package org.yunti.web.bench.page;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Account with its orders: properties, methods, maps and lists for a page that has only references. */
public final class ReferencesModel {
  private ReferencesModel() {}

  /** Address of an account. */
  public record Address(String street, String city, int number) {
    public String getStreet() {
      return street;
    }

    public String getCity() {
      return city;
    }

    public int getNumber() {
      return number;
    }

    public String line(String separator) {
      return street + separator + city;
    }
  }

  /** Order of an account. */
  public record Order(long id, String state, Map<String, String> notes, List<String> lines) {
    public long getId() {
      return id;
    }

    public String getState() {
      return state;
    }

    public Map<String, String> getNotes() {
      return notes;
    }

    public List<String> getLines() {
      return lines;
    }
  }

  /** Account of the page. */
  public record Account(String name, boolean active, Address address, List<Order> orders) {
    public String getName() {
      return name;
    }

    public boolean isActive() {
      return active;
    }

    public Address getAddress() {
      return address;
    }

    public List<Order> getOrders() {
      return orders;
    }

    public Order order(int index) {
      return orders.get(index);
    }
  }

  static Map<String, Object> create() {
    List<Order> orders = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      orders.add(new Order(70_000 + i, i % 2 == 0 ? "sent" : "paid", Map.of("gift", "no", "hint", "ring twice"),
          List.of("lamp", "desk", "chair")));
    }
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("theme", "dark");
    settings.put("rows", 25);
    settings.put("language", "de");
    Account account = new Account("Annegret Lindqvist", true, new Address("Lindenallee", "Kopenhagen", 17), orders);
    return Map.of("account", account, "settings", settings, "roles", List.of("reader", "writer", "editor", "owner"),
        "names", new String[] {"a", "b", "c", "d"}, "count", 42);
  }
}
