package com.acme.work;

import java.util.function.IntToLongFunction;

/** Prints the rounds of each kind of {@link Work} in a millisecond, as JSON: the best of many short runs. */
public final class Calibrate {
    private Calibrate() {}

    public static void main(String[] args) {
        System.out.printf("{\"java.hash\": %.2f, \"java.sort\": %.2f, \"java.parse\": %.2f, \"java.render\": %.2f}%n",
                rate(Work::hash), rate(Work::sort), rate(Work::parse), rate(Work::render));
    }

    private static double rate(IntToLongFunction work) {
        int rounds = 64;
        double best = 0;
        long used = 0;
        for (int i = 0; i < 1200; i++) {
            long start = System.nanoTime();
            used += work.applyAsLong(rounds);
            double ms = (System.nanoTime() - start) / 1e6;
            if (i > 200) {
                best = Math.max(best, rounds / ms);
            } else if (ms < 1) {
                rounds *= 2;
            }
        }
        if (used == 42) {
            System.err.println(used);
        }
        return best;
    }
}
