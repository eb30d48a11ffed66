package io.railhead.gateway.audit;

import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.config.ListenAddress;
import io.vertx.core.Vertx;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Sends events to a syslog server: RFC 5424 messages over TLS, each behind the count of its octets
 * (RFC 5425). The server's name is verified. Files of certificates are read at each connection.
 *
 * <p> Syslog acknowledges nothing: what the kernel has taken when a connection breaks may be lost
 * and is not counted.
 */
final class SyslogTls implements AuditSink {
    private static final int CONNECT_MILLIS = 5_000;
    private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The facility "log audit" of RFC 5424. */
    private static final int FACILITY = 13;
    private static final int WARNING = 4;
    private static final int INFORMATIONAL = 6;
    private static final DateTimeFormatter TIME = DateTimeFormatter
            .ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    private final AuditConfig.Syslog settings;
    private final Vertx vertx;
    private final String host;
    private volatile @Nullable Socket raw;
    private volatile boolean closed;
    private @Nullable SSLSocket socket;
    private long wroteAtNanos = System.nanoTime();

    /** @param gateway the gateway's name, which becomes the message's host name */
    SyslogTls(AuditConfig.Syslog settings, Vertx vertx, String gateway) {
        this.settings = settings;
        this.vertx = vertx;
        this.host = headerField(gateway);
    }

    @Override
    public String name() {
        return "syslog";
    }

    @Override
    public void write(AuditEvent event, String json) throws IOException {
        try {
            SSLSocket open = connected();
            open.getOutputStream().write(frame(message(event, json)));
            wroteAtNanos = System.nanoTime();
        } catch (IOException e) {
            shut();
            throw e;
        }
    }

    @Override
    public void tick() throws IOException {
        try {
            connected();
        } catch (IOException e) {
            shut();
            throw e;
        }
    }

    /** Returns the count of the message's octets, a space, and the message. */
    static byte[] frame(byte[] message) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream(message.length + 8);
        frame.writeBytes((message.length + " ").getBytes(StandardCharsets.US_ASCII));
        frame.writeBytes(message);
        return frame.toByteArray();
    }

    byte[] message(AuditEvent event, String json) {
        int severity = event.isRefusal() ? WARNING : INFORMATIONAL;
        return ("<" + (FACILITY * 8 + severity) + ">1 " + TIME.format(event.time()) + ' ' + host
                + " railhead " + ProcessHandle.current().pid() + ' ' + event.kind().label() + " - "
                + json).getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the name in printable ASCII, as a header field must be. */
    private static String headerField(String name) {
        String field = name.replaceAll("[^\\x21-\\x7e]", "-");
        return field.isEmpty() ? "-" : field.substring(0, Math.min(field.length(), 255));
    }

    private SSLSocket connected() throws IOException {
        SSLSocket open = socket;
        if (open != null && !isOver(open)) {
            return open;
        }
        shut();
        SSLSocket fresh = connect();
        socket = fresh;
        return fresh;
    }

    /**
     * Returns whether the server has closed the connection. A first write after that would succeed,
     * and be lost.
     */
    private boolean isOver(SSLSocket open) throws IOException {
        if (System.nanoTime() - wroteAtNanos < QUIET_NANOS) {
            return false;
        }
        try {
            return open.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    private SSLSocket connect() throws IOException {
        ListenAddress server = settings.server();
        Socket plain = new Socket();
        raw = plain;
        if (closed) {
            plain.close();
        }
        plain.connect(new InetSocketAddress(server.host(), server.port()), CONNECT_MILLIS);
        plain.setKeepAlive(true);
        plain.setSoTimeout(CONNECT_MILLIS);
        SSLSocket tls = (SSLSocket) context().getSocketFactory()
                .createSocket(plain, server.host(), server.port(), true);
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setProtocols(new String[]{"TLSv1.3", "TLSv1.2"});
        tls.setSSLParameters(parameters);
        tls.startHandshake();
        // From now on reads only look whether the server is still there.
        tls.setSoTimeout(1);
        return tls;
    }

    /** Reads the files and builds the TLS context; throws one line that names the setting. */
    SSLContext context() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(), authorities(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("audit.syslog: " + e.getMessage(), e);
        }
    }

    private KeyManager @Nullable [] keys() throws IOException {
        AuditConfig.KeyPair client = settings.client();
        if (client == null) {
            return null;
        }
        try {
            return new PemKeyCertOptions().setCertPath(client.certificate().toString())
                    .setKeyPath(client.key().toString())
                    .getKeyManagerFactory(vertx)
                    .getKeyManagers();
        } catch (Exception | Error e) {
            throw new IOException("audit.syslog: certificate or key is not usable PEM: "
                    + e.getMessage(), e);
        }
    }

    private TrustManager @Nullable [] authorities() throws IOException {
        if (settings.ca() == null) {
            return null;
        }
        try {
            return new PemTrustOptions().addCertPath(settings.ca().toString())
                    .getTrustManagerFactory(vertx)
                    .getTrustManagers();
        } catch (Exception | Error e) {
            throw new IOException("audit.syslog.ca: is not usable PEM: " + e.getMessage(), e);
        }
    }

    private void shut() {
        socket = null;
        Socket plain = raw;
        raw = null;
        if (plain != null) {
            try {
                plain.close();
            } catch (IOException e) {
                // The connection is given up in any case.
            }
        }
    }

    /** Ends the connection, also under a write that hangs. Any thread. */
    @Override
    public void close() {
        closed = true;
        Socket plain = raw;
        if (plain != null) {
            try {
                plain.close();
            } catch (IOException e) {
                // The connection is given up in any case.
            }
        }
    }
}
