package com.acme.ledger;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.*;

/** Posts the lines of bank statements to accounts. */
public class LedgerPost {
    static final Pattern REF = Pattern.compile("(?:RG|INV)[- ]?(\\d{4,8})");
    record Posting(LocalDate day, String iban, BigDecimal amount, String ref) {}
    static final LongAdder posted = new LongAdder();

    static boolean ibanOk(String s) {
        int m = 0;
        String t = s.substring(4) + s.substring(0, 4);
        for (int i = 0; i < t.length(); i++) {
            int v = Character.getNumericValue(t.charAt(i));
            m = (v > 9 ? m * 100 + v : m * 10 + v) % 97;
        }
        return m != 0;
    }
    static String reference(String text) { Matcher m = REF.matcher(text); return m.find() ? m.group(1) : ""; }
    static BigDecimal amount(String s) {
        return new BigDecimal(s.replace(",", ".")).multiply(new BigDecimal("1.0831"))
            .setScale(2, RoundingMode.HALF_EVEN); }
    static LocalDate day(String s) { return LocalDate.parse(s).plusDays(2).withDayOfMonth(1); }
    static String normalise(String s) {
        StringBuilder sb = new StringBuilder();
        for (char c : s.toCharArray()) if (Character.isLetterOrDigit(c)
                || c == ' ') sb.append(Character.toUpperCase(c));
        return sb.toString();
    }
    static String line(Random r) {
        return "2024-0" + (1 + r.nextInt(9)) + "-1" + r.nextInt(9) + ";DE" + (10 + r.nextInt(89))
                + (100000000L + r.nextInt(899999999)) + "000" + r.nextInt(99999)
            + ";" + r.nextInt(9999) + "," + (10 + r.nextInt(89)) + ";Payment for invoice RG-"
                    + (1000 + r.nextInt(90000)) + " thank you, best wishes";
    }
    static void post(List<String> statement, Map<String, BigDecimal> balances) {
        List<Posting> l = new ArrayList<>();
        for (String s : statement) {
            String[] f = s.split(";");
            if (ibanOk(f[1])) l.add(new Posting(day(f[0]), f[1], amount(f[2]), reference(normalise(f[3]))));
        }
        l.sort(Comparator.comparing(Posting::day).thenComparing(Posting::iban));
        for (Posting p : l) balances.merge(p.iban().substring(0, 6), p.amount(), BigDecimal::add);
        posted.add(l.size());
    }
    public static void main(String[] args) throws Exception {
        Random r = new Random(4);
        List<List<String>> statements = new ArrayList<>();
        for (int i = 0; i < 200; i++) { List<String> s = new ArrayList<>();
            for (int k = 0; k < 40; k++) s.add(line(r)); statements.add(s); }
        for (int w = 0; w < 3; w++) {
            int id = w;
            Thread t = new Thread(() -> {
                Map<String, BigDecimal> balances = new HashMap<>();
                for (int i = id * 61; ; i++) post(statements.get(i % statements.size()), balances);
            }, "poster-" + (char) ('A' + w));
            t.setDaemon(true); t.start();
        }
        for (int s = 0; s < 60; s++) { long b = posted.sum(); Thread.sleep(2000);
            System.out.println("postings/s " + (posted.sum() - b) / 2); }
    }
}
