package com.acme.feeds;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Parses feeds of products (text like JSON) and counts what is in stock of each brand. */
public class FeedParser {
    static final class Json {
        private final String s; private int i;
        Json(String s) { this.s = s; }
        Object value() {
            skip();
            char c = s.charAt(i);
            if (c == '{') return object();
            if (c == '[') return array();
            if (c == '"') return string();
            int st = i;
            while (i < s.length() && "-+.0123456789eE".indexOf(s.charAt(i)) >= 0) i++;
            return Double.valueOf(s.substring(st, i));
        }
        private void skip() { while (i < s.length() && s.charAt(i) <= ' ') i++; }
        private Map<String, Object> object() {
            Map<String, Object> m = new LinkedHashMap<>();
            i++;
            for (skip(); s.charAt(i) != '}'; skip()) {
                if (s.charAt(i) == ',') { i++; skip(); }
                String k = string(); skip(); i++;
                m.put(k, value());
            }
            i++;
            return m;
        }
        private List<Object> array() {
            List<Object> l = new ArrayList<>();
            i++;
            for (skip(); s.charAt(i) != ']'; skip()) {
                if (s.charAt(i) == ',') { i++; }
                l.add(value());
            }
            i++;
            return l;
        }
        private String string() {
            int st = ++i;
            while (s.charAt(i) != '"') i++;
            return s.substring(st, i++);
        }
    }
    static String makeFeed(Random r, int items) {
        StringBuilder sb = new StringBuilder("{\"feed\":\"f\",\"items\":[");
        for (int k = 0; k < items; k++) {
            if (k > 0) sb.append(',');
            sb.append("{\"sku\":\"").append(Integer.toString(r.nextInt(1 << 28), 36)).append("\",\"brand\":\"b")
                    .append(r.nextInt(40))
              .append("\",\"price\":").append(r.nextInt(10000)).append(",\"stock\":").append(r.nextInt(50))
              .append(",\"tags\":[\"new\",\"sale\",\"t").append(r.nextInt(9)).append("\"]}");
        }
        return sb.append("]}").toString();
    }
    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        Random r = new Random(1);
        String[] feeds = new String[64];
        for (int k = 0; k < feeds.length; k++) feeds[k] = makeFeed(r, 60);
        // the catalogue that the service keeps: descriptions of products
        Map<Integer, String[]> catalogue = new HashMap<>();
        for (int k = 0; k < 400_000; k++) catalogue.put(k, new String[]{"product " + k,
                "long description of product " + k});
        LongAdder docs = new LongAdder();
        long[][] stock = new long[2][40];
        ExecutorService ex = Executors.newFixedThreadPool(2);
        for (int w = 0; w < 2; w++) {
            int id = w;
            ex.submit(() -> {
                for (int k = id; ; k++) {
                    Map<String, Object> m = (Map<String, Object>) new Json(feeds[k % feeds.length]).value();
                    for (Object o : (List<Object>) m.get("items")) {
                        Map<String, Object> it = (Map<String, Object>) o;
                        int brand = Integer.parseInt(((String) it.get("brand")).substring(1));
                        stock[id][brand] += ((Double) it.get("stock")).longValue();
                    }
                    docs.increment();
                }
            });
        }
        for (int s = 0; s < 60; s++) {
            long b = docs.sum();
            Thread.sleep(2000);
            System.out.println("feeds/s " + (docs.sum() - b) / 2 + " catalogue " + catalogue.size());
        }
        Runtime.getRuntime().halt(0);
    }
}
