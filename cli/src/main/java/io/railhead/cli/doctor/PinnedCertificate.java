package io.railhead.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trust in exactly one server certificate, whatever its names: the doctor asks a gateway on a
 * loopback address, which its certificate need not name.
 */
final class PinnedCertificate extends X509ExtendedTrustManager {
    private final X509Certificate certificate;

    private PinnedCertificate(X509Certificate certificate) {
        this.certificate = certificate;
    }

    /** @param pem a file whose first certificate is the server's */
    static SSLContext context(Path pem) throws IOException {
        try (InputStream in = Files.newInputStream(pem)) {
            X509Certificate first = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(in);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[]{new PinnedCertificate(first)}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(pem + ": " + e.getMessage(), e);
        }
    }

    private void require(X509Certificate[] chain) throws CertificateException {
        if (chain.length == 0 || !chain[0].equals(certificate)) {
            throw new CertificateException("another certificate than the configured one");
        }
    }

    private static CertificateException noClients() {
        return new CertificateException("only servers are verified");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
            throws CertificateException {
        require(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
            throws CertificateException {
        require(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        require(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
            throws CertificateException {
        throw noClients();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
            throws CertificateException {
        throw noClients();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
            throws CertificateException {
        throw noClients();
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
