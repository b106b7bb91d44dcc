package com.acme.elsewhere;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Servlet that answers on another thread, as Spring's DeferredResult does. */
final class AnswersServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        String path = request.getRequestURI();
        if (!Costs.isElsewhere(path)) {
            Costs.answer(path, () -> write(response));
            return;
        }
        AsyncContext context = request.startAsync();
        Costs.answer(path, () -> {
            write((HttpServletResponse) context.getResponse());
            context.complete();
        });
    }

    private static void write(HttpServletResponse response) {
        byte[] body = "answer\n".getBytes(StandardCharsets.UTF_8);
        response.setContentLength(body.length);
        try {
            response.getOutputStream().write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
