package com.acme.work;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Random;

/** Work on the processor: the same amount for the same number of rounds. {@link Calibrate} counts rounds a ms. */
public final class Work {
    private static final byte[] BLOCK = new byte[1024];
    private static final int[] NUMBERS = new Random(7).ints(256).toArray();
    private static final byte[] DOCUMENT = document();

    static {
        new Random(11).nextBytes(BLOCK);
    }

    private Work() {}

    private static byte[] document() {
        StringBuilder out = new StringBuilder("{\"items\":[");
        for (int i = 0; i < 20; i++) {
            out.append(i == 0 ? "" : ",").append("{\"id\":").append(1000 + i * 37).append(",\"name\":\"item ")
                    .append(i).append("\",\"price\":").append(i * 19 + 5).append("}");
        }
        return out.append("]}").toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the signature of {@code rounds} KiB: SHA-256. */
    public static long hash(int rounds) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (int i = 0; i < rounds; i++) {
                digest.update(BLOCK);
            }
            byte[] sum = digest.digest();
            return sum[0] << 8 | sum[1];
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the median of a list that it sorts {@code rounds} times. */
    public static long sort(int rounds) {
        int[] numbers = new int[NUMBERS.length];
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            for (int k = 0; k < numbers.length; k++) {
                numbers[k] = NUMBERS[k] * (i | 1);
            }
            Arrays.sort(numbers);
            sum += numbers[numbers.length / 2];
        }
        return sum;
    }

    /** Returns the sum of all numbers of a JSON document, which it scans {@code rounds} times. */
    public static long parse(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            boolean quoted = false;
            long number = 0;
            for (byte b : DOCUMENT) {
                if (b == '"') {
                    quoted = !quoted;
                } else if (!quoted && b >= '0' && b <= '9') {
                    number = number * 10 + b - '0';
                } else if (number != 0) {
                    sum += number;
                    number = 0;
                }
            }
        }
        return sum;
    }

    /** Returns the length of {@code rounds} rows of a table as HTML. It allocates about 300 bytes a row. */
    public static long render(int rounds) {
        long length = 0;
        for (int i = 0; i < rounds; i++) {
            StringBuilder row = new StringBuilder(128);
            row.append("<tr><td>").append(i).append("</td><td class=\"price\">").append(i * 31L).append("</td><td>");
            for (int k = 0; k < 4; k++) {
                row.append("<b>").append(NUMBERS[i + k & 255]).append("</b>");
            }
            length += row.append("</td></tr>").toString().length();
        }
        return length;
    }
}
