package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.testing.ConnectProxy;
import io.railhead.backend.testing.ScriptedStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose certificate comes from an authority of its own. */
class PrivateAuthorityTest {
    private static final String PASSWORD = "changeit";

    @TempDir
    static Path directory;

    /** One authority, and two certificates of it: for the store's address and for another. */
    @BeforeAll
    static void createCertificates() throws Exception {
        authority("ours");
        authority("theirs");
        certificate("store", "ours", "127.0.0.1");
        certificate("elsewhere", "ours", "127.0.0.2");
    }

    @Test
    void theAuthoritysStoreIsTrusted() {
        try (ScriptedStore store = store("store");
                AwsBackend backend = ScriptedBackend.over(USUAL.trusting(pem("ours")), store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("secret");
            assertThat(store.endpoint()).hasScheme("https");
        }
    }

    /** Memory is filled with the text, never with the cipher text that the socket receives. */
    @Test
    void aBodyIsDecryptedBeforeItComesIntoItsReadersMemory() throws Exception {
        byte[] content = new byte[1 << 20];
        new Random(3).nextBytes(content);
        try (ScriptedStore store = new ScriptedStore(sockets("store"), "https", 0,
                ScriptedStore.Script.answer(
                        "HTTP/1.1 200 OK\r\nContent-Length: " + content.length, content));
                AwsBackend backend = ScriptedBackend.over(USUAL.trusting(pem("ours")), store)) {
            LandingTest.Memory memory = LandingTest.pour(backend, new LandingTest.Memory(50_000));
            assertThat(memory.whole().get(60, TimeUnit.SECONDS)).isEqualTo(content);
        }
    }

    @Test
    void theBucketInTheHostNameNeedsNoCertificateOfItsOwn() {
        try (ScriptedStore store = store("store");
                AwsBackend backend = ScriptedBackend
                        .over(USUAL.virtualHost().trusting(pem("ours")), store)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("secret");
        }
    }

    /** The proxy sees the name alone: TLS is spoken with the store, by the store's name. */
    @Test
    void aStoreIsTrustedAndRefusedBehindAProxyAsWithoutOne() {
        URI behind = URI.create("https://127.0.0.1:8443");
        for (String alias : List.of("store", "elsewhere")) {
            try (ScriptedStore store = store(alias);
                    ConnectProxy proxy = new ConnectProxy(store.endpoint());
                    AwsBackend backend = ScriptedBackend.over(USUAL.attempting(1)
                            .trusting(pem("ours"))
                            .by(new BackendConfig.Proxy("localhost", proxy.port(), null, null)),
                            behind)) {
                if (alias.equals("store")) {
                    assertThat(calls(backend).get("k").text()).isEqualTo("secret");
                } else {
                    assertThatExceptionOfType(BackendException.class)
                            .isThrownBy(() -> calls(backend).get("k"))
                            .matches(failure -> failure.reason() == Reason.UNREACHABLE);
                    assertThat(store.received()).isEmpty();
                }
                assertThat(proxy.heads()).allMatch(
                        head -> head.startsWith("CONNECT 127.0.0.1:8443 HTTP/1.1"));
            }
        }
    }

    @Test
    void withoutItsAuthorityTheStoreIsRefused() {
        try (ScriptedStore store = store("store")) {
            assertRefused(USUAL, store, "certification path");
        }
    }

    @Test
    void anotherAuthorityWillNotDo() {
        try (ScriptedStore store = store("store")) {
            assertRefused(USUAL.trusting(pem("theirs")), store, "certification path");
        }
    }

    @Test
    void aCertificateForAnotherAddressIsRefused() {
        try (ScriptedStore store = store("elsewhere")) {
            assertRefused(USUAL.trusting(pem("ours")), store, "127.0.0.1");
        }
    }

    @Test
    void aFileWithoutCertificatesIsRefusedAtOnce() throws IOException {
        Path empty = Files.writeString(directory.resolve("empty.pem"), "");
        Path garbage = Files.writeString(directory.resolve("garbage.pem"), "not a certificate");
        for (Path file : List.of(empty, garbage, directory.resolve("missing.pem"))) {
            assertThatIllegalArgumentException().isThrownBy(() -> PrivateAuthority.read(file))
                    .withMessageContaining(file.toString());
        }
    }

    /** No request, so no credentials, reach a store that is not who it should be. */
    private static void assertRefused(ScriptedBackend.Options options, ScriptedStore store,
            String why) {
        try (AwsBackend backend = ScriptedBackend.over(options.attempting(1), store)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"))
                    .withMessageContaining(why)
                    .matches(failure -> failure.reason() == Reason.UNREACHABLE);
            assertThat(store.received()).isEmpty();
        }
    }

    private static ScriptedStore store(String alias) {
        return new ScriptedStore(sockets(alias), "https", 0, status(200, "secret"));
    }

    private static ServerSocketFactory sockets(String alias) {
        try (InputStream in = Files.newInputStream(directory.resolve(alias + ".p12"))) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD.toCharArray());
            KeyManagerFactory managers = KeyManagerFactory
                    .getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context.getServerSocketFactory();
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static Path pem(String authority) {
        return directory.resolve(authority + ".pem");
    }

    private static void authority(String name) throws Exception {
        keytool(name, "-genkeypair", "-alias", name, "-keyalg", "EC", "-dname", "CN=" + name,
                "-ext", "bc:critical=ca:true", "-ext", "ku=keyCertSign");
        keytool(name, "-exportcert", "-rfc", "-alias", name, "-file", pem(name).toString());
    }

    /** In a key store of its own, which a copy of the authority's becomes. */
    private static void certificate(String name, String authority, String address)
            throws Exception {
        Files.copy(directory.resolve(authority + ".p12"), directory.resolve(name + ".p12"));
        keytool(name, "-genkeypair", "-alias", name, "-keyalg", "EC", "-dname", "CN=" + name,
                "-signer", authority, "-ext", "san=ip:" + address);
        keytool(name, "-delete", "-alias", authority);
    }

    private static void keytool(String store, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-keystore", directory.resolve(store + ".p12").toString(),
                "-storetype", "PKCS12", "-storepass", PASSWORD));
        Path log = directory.resolve("keytool.log");
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    }
}
