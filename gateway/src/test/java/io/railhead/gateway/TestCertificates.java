package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Key pairs with self-signed certificates for 127.0.0.1, made by the JDK's keytool. */
public final class TestCertificates {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final Path folder;

    public TestCertificates(Path folder) {
        this.folder = folder;
    }

    /** @param algorithm RSA or EC */
    public TestCertificates create(String name, String algorithm) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                        "-genkeypair", "-alias", name, "-keyalg", algorithm, "-dname", "CN=" + name,
                        "-ext", "san=ip:127.0.0.1", "-keystore", store(name).toString(),
                        "-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(folder.resolve("keytool.log")))
                .isZero();
        KeyStore keys = load(name);
        write(certificate(name), "CERTIFICATE", keys.getCertificate(name).getEncoded());
        write(key(name), "PRIVATE KEY", keys.getKey(name, PASSWORD).getEncoded());
        return this;
    }

    private Path store(String name) {
        return folder.resolve(name + ".p12");
    }

    public Path certificate(String name) {
        return folder.resolve(name + ".pem");
    }

    public Path key(String name) {
        return folder.resolve(name + ".key");
    }

    private KeyStore load(String name) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(store(name))) {
            keys.load(in, PASSWORD);
        }
        return keys;
    }

    private static void write(Path file, String type, byte[] der) throws IOException {
        Files.writeString(file, "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                        .encodeToString(der)
                + "\n-----END " + type + "-----\n");
    }

    /**
     * What a client needs.
     *
     * @param trusted names of certificates
     * @param own with which it proves itself; null for none
     */
    public SSLContext context(List<String> trusted, @Nullable String own) throws Exception {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        for (String name : trusted) {
            Certificate certificate = load(name).getCertificate(name);
            trust.setCertificateEntry(name, certificate);
        }
        TrustManagerFactory trustees = TrustManagerFactory
                .getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustees.init(trust);
        KeyManagerFactory keys = KeyManagerFactory
                .getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own == null ? null : load(own), PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keys.getKeyManagers(), trustees.getTrustManagers(), null);
        return context;
    }
}
