package grain;

import java.util.*;
import java.util.stream.*;

class Chart {
    static String render(List<Quote> history) {
        List<Double> smooth = IntStream.range(6, history.size()).boxed()
            .map(i -> history.subList(i - 6, i).stream().mapToDouble(Quote::price).average().orElse(0))
            .collect(Collectors.toList());
        return smooth.stream().map(p -> String.valueOf(Math.round(p))).collect(Collectors.joining(","));
    }
}
