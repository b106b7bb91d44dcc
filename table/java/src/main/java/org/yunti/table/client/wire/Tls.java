package org.yunti.table.client.wire;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.Collection;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

import org.yunti.table.TableException;

/** TLS 1.2 and 1.3 over a connected socket. The server's certificate must have the host's name. */
public final class Tls {
  private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

  private final SSLContext context;

  private Tls(SSLContext context) {
    this.context = context;
  }

  /**
   * Reads the certificates that are trusted.
   *
   * @param certificates a PEM file; null for those of the JDK
   */
  public static Tls of(Path certificates) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, certificates == null ? null : trust(certificates), null);
      return new Tls(context);
    } catch (IOException | GeneralSecurityException e) {
      throw new TableException("the certificates " + (certificates == null ? "of the JDK" : certificates)
          + " cannot be read (" + e + "); name a PEM file with those of the certificate authority", e);
    }
  }

  private static TrustManager[] trust(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    Collection<? extends Certificate> all;
    try (InputStream in = Files.newInputStream(file)) {
      all = CertificateFactory.getInstance("X.509").generateCertificates(in);
    }
    if (all.isEmpty()) {
      throw new GeneralSecurityException("the file has no certificate");
    }
    int number = 0;
    for (Certificate one : all) {
      store.setCertificateEntry("trusted" + number++, one);
    }
    TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(store);
    return managers.getTrustManagers();
  }

  Socket over(Socket socket, Address server) throws IOException {
    SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(socket, server.host(), server.port(), true);
    SSLParameters parameters = tls.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    tls.setSSLParameters(parameters);
    tls.setEnabledProtocols(Arrays.stream(VERSIONS)
        .filter(Arrays.asList(tls.getSupportedProtocols())::contains).toArray(String[]::new));
    tls.startHandshake();
    return tls;
  }
}
