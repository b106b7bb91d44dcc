import java.util.ArrayList;
import java.util.List;

/**
 * Wastes memory on equal strings: each imported line makes its own copy of the few countries and
 * currencies. The lines are all in use, in a list that only a local variable holds.
 */
public final class CustomerImport {
  private static final String[] COUNTRIES = {
    "Switzerland", "Germany", "France", "Italy", "Austria", "Liechtenstein"
  };

  private static final class Customer {
    final long number;
    final String name;
    final String country;
    final String currency;

    Customer(long number, String[] columns) {
      this.number = number;
      name = columns[0];
      country = columns[1];
      currency = columns[2];
    }
  }

  private static Customer parse(long number) {
    String line = "Name " + number + ";" + COUNTRIES[(int) (number % 6)] + ";Swiss francs";
    return new Customer(number, line.split(";"));
  }

  public static void main(String[] args) throws Exception {
    List<Customer> customers = new ArrayList<>();
    for (long i = 0; i < 100_000; i++) {
      customers.add(parse(i));
    }
    System.out.println("ready");
    System.in.read();
    System.out.println(customers.size());
  }
}
