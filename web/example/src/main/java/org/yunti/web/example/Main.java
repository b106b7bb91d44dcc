package org.yunti.web.example;

import java.io.IOException;
import java.net.BindException;

/** {@code make run-web}: starts the shop until ctrl-C. */
public final class Main {
  private static final int PORT = 8080;

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    int port = PORT;
    if (arguments.length == 2 && arguments[0].equals("--port") && arguments[1].matches("[0-9]{1,5}")
        && Integer.parseInt(arguments[1]) < 65_536) {
      port = Integer.parseInt(arguments[1]);
    } else if (arguments.length > 0) {
      System.err.println("run-web: \"" + String.join(" ", arguments)
          + "\" is not known; usage: [--port N], with N from 0 (any that is free) to 65535");
      System.exit(2);
    }
    // The JDK's server delays small packets otherwise.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    try {
      Shop shop = new Shop(port);
      Runtime.getRuntime().addShutdownHook(new Thread(shop::close));
      System.out.println("http://127.0.0.1:" + shop.port() + "/   (ctrl-C ends it)");
    } catch (BindException e) {
      System.err.println("run-web: port " + port + " of 127.0.0.1 is taken; take another: make run-web ARGS='--port 8081'");
      System.exit(1);
    }
  }
}
