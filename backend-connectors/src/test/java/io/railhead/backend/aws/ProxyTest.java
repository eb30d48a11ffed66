package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendException.Reason;
import io.railhead.backend.testing.ConnectProxy;
import io.railhead.backend.testing.ScriptedStore;
import java.net.URI;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** A store behind the proxy that the configuration names, and behind none that others name. */
class ProxyTest {
    /** No resolver knows it; the proxy does. */
    private static final URI BEHIND = URI.create("http://store.invalid:8080");

    private static BackendConfig.Proxy at(int port) {
        return new BackendConfig.Proxy("127.0.0.1", port, "ann", "secret");
    }

    @Test
    void aStoreIsReachedThroughATunnelOfItsOwnName() {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"));
                ConnectProxy proxy = new ConnectProxy(store.endpoint());
                AwsBackend backend = ScriptedBackend.over(USUAL.by(at(proxy.port())), BEHIND)) {
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(proxy.heads().getFirst()).startsWith("CONNECT store.invalid:8080 HTTP/1.1")
                    .containsIgnoringCase("proxy-authorization: Basic YW5uOnNlY3JldA==");
            assertThat(store.received().getFirst().header("Host")).isEqualTo("store.invalid:8080");
            assertThat(store.received().getFirst().header("Proxy-Authorization")).isNull();
        }
    }

    /** The guard of a connection stands behind the tunnel, too. */
    @Test
    void anAnswerThatIsCutOffIsNoneThroughATunnelEither() {
        ScriptedStore.Script cut = (request, line) -> {
            line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                    new byte[0]);
            line.close();
        };
        try (ScriptedStore store = new ScriptedStore(cut);
                ConnectProxy proxy = new ConnectProxy(store.endpoint());
                AwsBackend backend = ScriptedBackend
                        .over(USUAL.attempting(1).by(at(proxy.port())), BEHIND)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"));
        }
    }

    @Test
    void aProxyThatRefusesMakesTheStoreUnreachable() {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"));
                ConnectProxy proxy = new ConnectProxy(store.endpoint(), 407);
                AwsBackend backend = ScriptedBackend
                        .over(USUAL.attempting(1).by(at(proxy.port())), BEHIND)) {
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> calls(backend).get("k"))
                    .withMessageContaining("proxy")
                    .matches(failure -> failure.reason() == Reason.UNREACHABLE);
            assertThat(store.received()).isEmpty();
        }
    }

    @Test
    void propertiesNameNone() {
        Properties before = (Properties) System.getProperties().clone();
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"));
                ConnectProxy proxy = new ConnectProxy(store.endpoint())) {
            System.getProperties()
                    .putAll(Map.of("http.proxyHost", "127.0.0.1", "http.proxyPort",
                            String.valueOf(proxy.port()), "http.nonProxyHosts", ""));
            try (AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
                assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            }
            assertThat(proxy.heads()).isEmpty();
        } finally {
            System.setProperties(before);
        }
    }

    @Test
    void whatIsSaidOfAProxyHoldsNoLogin() {
        assertThat(at(3128)).hasToString("http://...@127.0.0.1:3128");
    }
}
