package wool;

import java.util.*;
import java.util.stream.*;

class Catalogue {
    public record Lot(int id, String farm, double micron, int bales) { }

    public record Line(String key, String farm, String grade, String estimate) { }

    private final List<Lot> lots;

    Catalogue(int n) {
        Random r = new Random(9);
        lots = IntStream.range(0, n)
            .mapToObj(i -> new Lot(i, "farm " + r.nextInt(200), 15 + r.nextDouble() * 12, 1 + r.nextInt(40)))
            .collect(Collectors.toList());
    }

    List<Line> page(int from, int size) {
        return IntStream.range(from, from + size).mapToObj(i -> lots.get(i % lots.size())).map(this::line)
            .sorted(Comparator.comparing(Line::grade).thenComparing(Line::key)).collect(Collectors.toList());
    }

    private Line line(Lot l) {
        String grade = l.micron() < 18.5 ? "superfine" : l.micron() < 21 ? "fine" : "medium";
        long cents = Math.round(l.bales() * 18_000 * (30 - l.micron()));
        return new Line("L" + l.id() + "/" + l.bales(), l.farm(), grade, cents / 100 + "." + cents % 100);
    }
}
