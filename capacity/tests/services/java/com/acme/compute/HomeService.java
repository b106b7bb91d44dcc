package com.acme.compute;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Work;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Home page: asks three services, one after the other, and renders what they answer. */
public final class HomeService {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private HomeService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("parse");
        HttpRequest news = request(options.number("news"));
        HttpRequest weather = request(options.number("weather"));
        HttpRequest offers = request(options.number("offers"));
        JdkWeb.start(options, path -> {
            String page = ask(news) + ask(weather) + ask(offers);
            return page + Work.parse(rounds);
        });
    }

    private static HttpRequest request(int port) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/")).build();
    }

    private static String ask(HttpRequest request) throws Exception {
        return CLIENT.send(request, BodyHandlers.ofString()).body();
    }
}
