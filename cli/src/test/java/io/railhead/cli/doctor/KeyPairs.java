package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Self-signed certificates with their keys, by the JDK's keytool. */
public final class KeyPairs {
    private static final String PASSWORD = "changeit";

    private final Path folder;

    public KeyPairs(Path folder) {
        this.folder = folder;
    }

    /**
     * @param san as keytool has it, such as {@code ip:127.0.0.1}
     * @param from as keytool has it, such as {@code -10d}
     */
    public KeyPairs create(String name, String san, String from, int days) throws Exception {
        Process process = new ProcessBuilder(
                List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                        "-genkeypair", "-alias", name, "-keyalg", "EC", "-dname", "CN=" + name,
                        "-ext", "san=" + san, "-startdate", from, "-validity",
                        String.valueOf(days), "-keystore", store(name).toString(), "-storetype",
                        "PKCS12", "-storepass", PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(folder.resolve("keytool.log")))
                .isZero();
        KeyStore keys = load(name);
        write(certificate(name), "CERTIFICATE", keys.getCertificate(name).getEncoded());
        write(key(name), "PRIVATE KEY",
                keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
        return this;
    }

    public Path certificate(String name) {
        return folder.resolve(name + ".pem");
    }

    public Path key(String name) {
        return folder.resolve(name + ".key");
    }

    /** Of a server that shows this certificate. */
    public ServerSocketFactory sockets(String name) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory
                .getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(name), PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context.getServerSocketFactory();
    }

    private Path store(String name) {
        return folder.resolve(name + ".p12");
    }

    private KeyStore load(String name) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(store(name))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private static void write(Path file, String type, byte[] der) throws IOException {
        Files.writeString(file, "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                        .encodeToString(der)
                + "\n-----END " + type + "-----\n");
    }
}
