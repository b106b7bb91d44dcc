package payroll.rules;

import java.util.List;
import java.util.function.ToLongFunction;
import payroll.Payroll.Slip;

/** Rules that a customer delivers. */
public class Rules implements ToLongFunction<Slip> {
    interface Rule {
        long apply(Slip s, long cents);
    }

    static class Base implements Rule {
        public long apply(Slip s, long cents) {
            return cents + (long) s.hours() * s.rate();
        }
    }

    static class Overtime implements Rule {
        public long apply(Slip s, long cents) {
            return s.hours() > 160 ? cents + (s.hours() - 160) * s.rate() / 4 : cents;
        }
    }

    static class Children implements Rule {
        public long apply(Slip s, long cents) {
            return cents + s.children() * 2500L;
        }
    }

    static class Tax implements Rule {
        public long apply(Slip s, long cents) {
            for (int b = 0; b < 12; b++) {
                cents -= cents > b * 100_000L ? cents / (200 - b * s.group()) : 0;
            }
            return cents;
        }
    }

    private final List<Rule> rules = List.of(new Base(), new Overtime(), new Children(), new Tax(),
        (s, c) -> c - c / 14, (s, c) -> Math.max(0, c));

    public long applyAsLong(Slip s) {
        long c = 0;
        for (Rule r : rules) {
            c = r.apply(s, c);
        }
        return c;
    }
}
