package voucher;

import java.io.*;
import java.net.Socket;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Sells vouchers and mails them. */
@SpringBootApplication
@EnableAsync
public class VoucherMailer {
    public static void main(String[] args) {
        SpringApplication.run(VoucherMailer.class, args);
    }

    @Service
    public static class Mailer {
        @Value("${relay}")
        private int relay;
        private final ThreadLocal<Socket> connection = ThreadLocal.withInitial(this::connect);

        private Socket connect() {
            try {
                Socket s = new Socket("127.0.0.1", relay);
                s.setTcpNoDelay(true);
                return s;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Async
        public CompletableFuture<String> send(String to, String code) throws IOException {
            Socket s = connection.get();
            s.getOutputStream().write(("MAIL " + to + " " + code + "\n").getBytes());
            StringBuilder answer = new StringBuilder();
            byte[] part = new byte[256];
            while (answer.indexOf("\n") < 0) {
                answer.append(new String(part, 0, s.getInputStream().read(part)));
            }
            return CompletableFuture.completedFuture(answer.toString().trim());
        }
    }

    @RestController
    public static class Shop {
        private final Mailer mailer;

        public Shop(Mailer mailer) {
            this.mailer = mailer;
        }

        @GetMapping("/voucher")
        public CompletableFuture<Map<String, String>> sell(String to, int cents) throws IOException {
            String code = UUID.randomUUID().toString().substring(0, 13);
            return mailer.send(to, code).thenApply(status -> Map.of("code", code, "mail", status));
        }
    }
}
