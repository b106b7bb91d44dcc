package loyalty;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.*;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps the access token of the points platform; renews it a margin before it expires. */
class TokenKeeper {
    private final ReentrantLock lock = new ReentrantLock();
    private final Rest rest;
    private final int port;
    private final Duration margin;
    private String token;
    private Instant expires = Instant.EPOCH;

    TokenKeeper(Rest rest, int port, Duration margin) {
        this.rest = rest;
        this.port = port;
        this.margin = margin;
    }

    String current() throws IOException {
        lock.lock();
        try {
            if (!Instant.now().isBefore(expires.minus(margin))) renew();
            return token;
        } finally {
            lock.unlock();
        }
    }

    private void renew() throws IOException {
        Instant asked = Instant.now();
        JsonNode grant = rest.get(port, "/oauth/token?grant_type=client_credentials", null);
        token = grant.get("access_token").asText();
        expires = asked.plusSeconds(grant.get("expires_in").asLong());
    }
}
