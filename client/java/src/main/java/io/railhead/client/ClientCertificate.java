package io.railhead.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;

/**
 * The certificate that a client shows a server, with its key.
 *
 * @param certificate PEM file, the client's own certificate first
 * @param key PEM file of the key, in PKCS#8 without a password
 */
public record ClientCertificate(Path certificate, Path key) {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "Ed25519");

    /** Reads the files. Throws IllegalArgumentException that names the unusable one. */
    KeyManager[] managers() {
        try (InputStream in = Files.newInputStream(certificate)) {
            Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(Certificate[]::new);
            if (chain.length == 0) {
                throw new IllegalArgumentException(
                        certificate + " holds no certificate in PEM form");
            }
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, null);
            char[] none = new char[0];
            keys.setKeyEntry("client", privateKey(), none, chain);
            KeyManagerFactory factory = KeyManagerFactory
                    .getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(keys, none);
            return factory.getKeyManagers();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException("the client certificate of " + certificate
                    + " and " + key + " cannot be read: " + e.getMessage(), e);
        }
    }

    private PrivateKey privateKey() throws IOException, GeneralSecurityException {
        String pem = Files.readString(key, StandardCharsets.US_ASCII);
        int begin = pem.indexOf(BEGIN);
        int end = pem.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException(key + " holds no key in PKCS#8; convert it:"
                    + " openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW");
        }
        PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder()
                .decode(pem.substring(begin + BEGIN.length(), end)));
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(spec);
            } catch (InvalidKeySpecException e) {
                // The next algorithm may be the key's.
            }
        }
        throw new IllegalArgumentException(key + " holds a key of an unknown algorithm");
    }
}
