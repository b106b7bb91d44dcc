package com.acme.web;

import java.util.HashMap;
import java.util.Map;

/** Options of a service from its command line: {@code --name value}. */
public final class Options {
    private final Map<String, String> values = new HashMap<>();

    public Options(String[] args) {
        for (int i = 0; i < args.length; i += 2) {
            if (!args[i].startsWith("--") || i + 1 == args.length) {
                throw new IllegalArgumentException("expected --name value, got " + args[i]);
            }
            values.put(args[i].substring(2), args[i + 1]);
        }
    }

    public String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    public int number(String name) {
        return Integer.parseInt(text(name));
    }

    /** Returns the port to listen on. */
    public int port() {
        return number("port");
    }

    /** Returns the number of worker threads. */
    public int threads() {
        return number("threads");
    }
}
