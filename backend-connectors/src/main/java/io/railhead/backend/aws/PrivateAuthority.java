package io.railhead.backend.aws;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.http.TlsTrustManagersProvider;

/** Trust in the certificates of one PEM file only. */
public final class PrivateAuthority {
    private PrivateAuthority() {}

    /**
     * @throws IllegalArgumentException if the file cannot be read or holds no certificate
     */
    public static TlsTrustManagersProvider read(Path pem) {
        try (InputStream in = Files.newInputStream(pem)) {
            Collection<? extends Certificate> certificates = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in);
            if (certificates.isEmpty()) {
                throw new IllegalArgumentException("ca holds no certificate: " + pem);
            }
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate certificate : certificates) {
                store.setCertificateEntry("ca-" + number++, certificate);
            }
            TrustManagerFactory factory = TrustManagerFactory
                    .getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            return factory::getTrustManagers;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException("ca cannot be read: " + pem, e);
        }
    }
}
