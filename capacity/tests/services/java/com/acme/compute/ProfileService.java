package com.acme.compute;

import com.acme.web.Options;
import com.acme.web.TomcatWeb;
import com.acme.work.Work;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/** Profiles: reads a user from another service and renders the page. */
public final class ProfileService {
    private ProfileService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("sort");
        URL users = new URL("http://127.0.0.1:" + options.number("users") + "/user");
        TomcatWeb.start(options, path -> "profile of " + user(users) + " " + Work.sort(rounds));
    }

    private static String user(URL users) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) users.openConnection();
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
