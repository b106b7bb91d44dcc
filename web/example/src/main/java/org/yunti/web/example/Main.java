package org.yunti.web.example;

import java.io.IOException;
import java.net.BindException;

/** Main program of {@code make run-web}: runs the shop until Ctrl-C. */
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
          + "\" is not an option; usage: [--port N], N from 0 (any free port) to 65535");
      System.exit(2);
    }
    // Without this, the JDK's server delays small packets.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    try {
      Shop shop = new Shop(port);
      Runtime.getRuntime().addShutdownHook(new Thread(shop::close));
      System.out.println("http://127.0.0.1:" + shop.port() + "/   (Ctrl-C stops it)");
    } catch (BindException e) {
      System.err.println("run-web: port " + port
          + " of 127.0.0.1 is in use; use another: make run-web ARGS='--port 8081'");
      System.exit(1);
    }
  }
}
