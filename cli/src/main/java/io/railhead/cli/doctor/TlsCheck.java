package io.railhead.cli.doctor;

import io.railhead.backend.aws.PrivateAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** One TLS handshake, as strict as the gateway's, which reports its fault. Blocks. */
final class TlsCheck {
    private final @Nullable Path ca;

    /** @param ca PEM file of a private authority; null for the platform's */
    TlsCheck(@Nullable Path ca) {
        this.ca = ca;
    }

    enum Fault {
        NONE,
        NOT_TLS,
        EXPIRED,
        NOT_YET,
        UNTRUSTED,
        OTHER_NAME,
        OTHER
    }

    /**
     * The result of a handshake.
     *
     * @param chain the server's certificate first; empty if it sent none
     * @param words the protocol, or the fault
     */
    record Result(Fault fault, List<X509Certificate> chain, String words, long nanos) {}

    Result shake(InetAddress address, String host, int port) {
        Recorder recorder;
        SSLContext context;
        try {
            recorder = new Recorder(trust());
            context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[]{recorder}, null);
        } catch (GeneralSecurityException e) {
            return new Result(Fault.OTHER, List.of(), String.valueOf(e.getMessage()), 0);
        }
        long begun = System.nanoTime();
        try (Socket plain = new Socket()) {
            int millis = (int) StoreCalls.LIMIT.toMillis();
            plain.connect(new InetSocketAddress(address, port), millis);
            plain.setSoTimeout(millis);
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory()
                    .createSocket(plain, host, port, true)) {
                SSLParameters parameters = socket.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                socket.setSSLParameters(parameters);
                socket.startHandshake();
                return new Result(Fault.NONE, recorder.chain, socket.getSession().getProtocol(),
                        System.nanoTime() - begun);
            }
        } catch (IOException e) {
            return new Result(recorder.chain.isEmpty() ? noCertificate(e) : recorder.fault(),
                    recorder.chain, String.valueOf(e.getMessage()), System.nanoTime() - begun);
        }
    }

    /** Recognises a peer without TLS, for which the JDK has no exception type. */
    private static Fault noCertificate(IOException failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("Unsupported or unrecognized SSL message")
                ? Fault.NOT_TLS
                : Fault.OTHER;
    }

    private X509ExtendedTrustManager trust() throws GeneralSecurityException {
        TrustManager[] managers;
        if (ca == null) {
            TrustManagerFactory factory = TrustManagerFactory
                    .getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            managers = factory.getTrustManagers();
        } else {
            managers = PrivateAuthority.read(ca).trustManagers();
        }
        for (TrustManager manager : managers) {
            if (manager instanceof X509ExtendedTrustManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("the JDK has no trust manager for X.509");
    }

    /** Records the server's certificates; the strict manager decides on trust. */
    private static final class Recorder extends X509ExtendedTrustManager {
        private final X509ExtendedTrustManager strict;
        private volatile List<X509Certificate> chain = List.of();
        private volatile String authType = "UNKNOWN";

        Recorder(X509ExtendedTrustManager strict) {
            this.strict = strict;
        }

        Fault fault() {
            Instant now = Instant.now();
            for (X509Certificate certificate : chain) {
                if (certificate.getNotAfter().toInstant().isBefore(now)) {
                    return Fault.EXPIRED;
                }
                if (certificate.getNotBefore().toInstant().isAfter(now)) {
                    return Fault.NOT_YET;
                }
            }
            try {
                strict.checkServerTrusted(chain.toArray(X509Certificate[]::new), authType);
                return Fault.OTHER_NAME;
            } catch (CertificateException e) {
                return Fault.UNTRUSTED;
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] shown, String type, Socket socket)
                throws CertificateException {
            chain = List.of(shown);
            authType = type;
            strict.checkServerTrusted(shown, type, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] shown, String type, SSLEngine engine)
                throws CertificateException {
            chain = List.of(shown);
            authType = type;
            strict.checkServerTrusted(shown, type, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] shown, String type)
                throws CertificateException {
            chain = List.of(shown);
            authType = type;
            strict.checkServerTrusted(shown, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] shown, String type, Socket socket)
                throws CertificateException {
            strict.checkClientTrusted(shown, type, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] shown, String type, SSLEngine engine)
                throws CertificateException {
            strict.checkClientTrusted(shown, type, engine);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] shown, String type)
                throws CertificateException {
            strict.checkClientTrusted(shown, type);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return strict.getAcceptedIssuers();
        }
    }
}
