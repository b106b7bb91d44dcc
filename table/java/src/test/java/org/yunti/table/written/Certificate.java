package org.yunti.table.written;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

import javax.net.ServerSocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate of a test's server, signed by itself, by the JDK's keytool; and its files. */
public final class Certificate {
  private static final char[] PASSWORD = "secret".toCharArray();

  private final KeyStore store;
  /** The certificate, and its key. */
  public final Path pem;
  public final Path keyPem;

  /**
   * Makes one.
   *
   * @param algorithm {@code EC}, which is made quickly; or {@code RSA}, whose keys of the JDK other programs read too
   * @param names {@code dns:localhost,ip:127.0.0.1}
   */
  public Certificate(Path folder, String name, String algorithm, String names) throws Exception {
    Path file = folder.resolve(name + ".p12");
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
        "-genkeypair", "-alias", "server", "-keyalg", algorithm, "-keysize",
        algorithm.equals("EC") ? "256" : "2048", "-dname", "CN=" + name, "-ext", "san=" + names, "-storetype", "PKCS12", "-keystore", file.toString(), "-storepass", new String(PASSWORD))
        .redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError(output);
    }
    store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    pem = write(folder.resolve(name + ".pem"), "CERTIFICATE", store.getCertificate("server").getEncoded());
    keyPem = write(folder.resolve(name + ".key"), "PRIVATE KEY", store.getKey("server", PASSWORD).getEncoded());
  }

  private static Path write(Path file, String what, byte[] bytes) throws Exception {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
  }

  public ServerSocketFactory sockets() throws Exception {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context.getServerSocketFactory();
  }
}
