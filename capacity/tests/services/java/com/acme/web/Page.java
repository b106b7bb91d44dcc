package com.acme.web;

/** Page of a service: the text that answers a request for a path. */
@FunctionalInterface
public interface Page {
    String answer(String path) throws Exception;
}
