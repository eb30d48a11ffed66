package io.railhead.gateway.frontdoor;

import io.railhead.gateway.config.GatewayConfig;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files of a listener's certificate, checked before use. A certificate that does not match
 * its key, as in the middle of a replacement, would fail every handshake.
 */
public final class TlsOptions {
    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");
    private static final List<String> KEY_TYPES = List.of("RSA", "EC", "EdDSA", "Ed25519");

    private TlsOptions() {}

    /** Returns the files in the order that {@link #options} takes their contents. */
    public static List<Path> of(GatewayConfig.Tls tls) {
        List<Path> files = new ArrayList<>(List.of(tls.certificate(), tls.key()));
        Path clientCa = tls.clientCa();
        if (clientCa != null) {
            files.add(clientCa);
        }
        return files;
    }

    /**
     * Builds the listener's TLS options.
     *
     * @param key the setting, for messages, such as {@code gateway.tls}
     * @throws IllegalArgumentException with one line that names the setting
     */
    public static ServerSSLOptions options(Vertx vertx, String key, List<byte[]> contents) {
        PemKeyCertOptions pair = new PemKeyCertOptions()
                .setCertValue(Buffer.buffer(contents.get(0)))
                .setKeyValue(Buffer.buffer(contents.get(1)));
        requirePair(vertx, key, pair);
        ServerSSLOptions options = new ServerSSLOptions();
        options.setKeyCertOptions(pair).setEnabledSecureTransportProtocols(PROTOCOLS);
        if (contents.size() > 2) {
            requireCertificates(key, contents.get(2));
            options.setClientAuth(ClientAuth.REQUIRED)
                    .setTrustOptions(new PemTrustOptions()
                            .addCertValue(Buffer.buffer(contents.get(2))));
        }
        return options;
    }

    /** Returns the earliest expiry date in a chain of certificates. */
    public static Instant until(byte[] chain) {
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(chain))
                    .stream()
                    .map(certificate -> ((X509Certificate) certificate).getNotAfter().toInstant())
                    .min(Comparator.naturalOrder())
                    .orElseThrow(() -> new IllegalArgumentException(
                            "gateway.tls: holds no certificate"));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "gateway.tls: certificate is not usable PEM: " + e.getMessage(), e);
        }
    }

    private static void requirePair(Vertx vertx, String key, PemKeyCertOptions pair) {
        X509KeyManager keys = null;
        try {
            for (KeyManager manager : pair.getKeyManagerFactory(vertx).getKeyManagers()) {
                keys = manager instanceof X509KeyManager x509 ? x509 : keys;
            }
        } catch (Exception e) {
            throw new IllegalArgumentException(key + ": certificate or key is not usable PEM: "
                    + e.getMessage(), e);
        }
        String alias = keys == null ? null : alias(keys);
        if (keys == null || alias == null) {
            throw new IllegalArgumentException(key + ": holds no certificate with its key");
        }
        if (!belongTogether(keys.getPrivateKey(alias),
                keys.getCertificateChain(alias)[0].getPublicKey())) {
            throw new IllegalArgumentException(
                    key + ": the key is not the certificate's, whose first must be the server's");
        }
    }

    private static @Nullable String alias(X509KeyManager keys) {
        for (String type : KEY_TYPES) {
            String[] aliases = keys.getServerAliases(type, null);
            if (aliases != null && aliases.length > 0) {
                return aliases[0];
            }
        }
        return null;
    }

    private static boolean belongTogether(PrivateKey key, PublicKey certified) {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        try {
            byte[] challenge = new byte[32];
            new SecureRandom().nextBytes(challenge);
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(challenge);
            byte[] signed = signature.sign();
            signature.initVerify(certified);
            signature.update(challenge);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static void requireCertificates(String key, byte[] pem) {
        try {
            if (!CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem))
                    .isEmpty()) {
                return;
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    key + ".client_ca: is not usable PEM: " + e.getMessage(), e);
        }
        throw new IllegalArgumentException(key + ".client_ca: holds no certificate");
    }
}
