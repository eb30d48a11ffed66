package io.railhead.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.urlconnection.UrlConnectionFactory;

/**
 * Connections without a proxy, whatever environment and system properties name. The channels cannot
 * use a proxy, and a client must reach one gateway by one way only.
 */
final class DirectConnections implements UrlConnectionFactory {
    private final int timeoutMillis;
    private final @Nullable SSLSocketFactory sockets;

    DirectConnections(Duration timeout, @Nullable Path ca) {
        this(timeout, ca, null);
    }

    /**
     * Throws IllegalArgumentException that names the file if it cannot be read.
     *
     * @param own the certificate that a server may ask for
     */
    DirectConnections(Duration timeout, @Nullable Path ca, @Nullable ClientCertificate own) {
        this.timeoutMillis = Math.toIntExact(timeout.toMillis());
        this.sockets = ca == null && own == null
                ? null
                : context(ca, own).getSocketFactory();
    }

    @Override
    public HttpURLConnection createConnection(URI uri) {
        try {
            HttpURLConnection connection = (HttpURLConnection) uri.toURL()
                    .openConnection(Proxy.NO_PROXY);
            connection.setConnectTimeout(timeoutMillis);
            connection.setReadTimeout(timeoutMillis);
            connection.setInstanceFollowRedirects(false);
            if (sockets != null && connection instanceof HttpsURLConnection secure) {
                secure.setSSLSocketFactory(sockets);
            }
            return connection;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SSLContext context(@Nullable Path ca, @Nullable ClientCertificate own) {
        KeyManager @Nullable [] keys = own == null ? null : own.managers();
        TrustManager @Nullable [] authorities = ca == null ? null : authorities(ca);
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys, authorities, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static TrustManager[] authorities(Path ca) {
        try (InputStream in = Files.newInputStream(ca)) {
            Collection<? extends Certificate> authorities = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in);
            if (authorities.isEmpty()) {
                throw new IllegalArgumentException(ca + " holds no certificate in PEM form");
            }
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            for (Certificate authority : authorities) {
                trusted.setCertificateEntry("ca-" + trusted.size(), authority);
            }
            TrustManagerFactory managers = TrustManagerFactory
                    .getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            return managers.getTrustManagers();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "the certificate authorities of " + ca + " cannot be read: " + e.getMessage(),
                    e);
        }
    }
}
