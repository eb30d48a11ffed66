package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.railhead.backend.BackendException;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.backend.testing.StoreSignature;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is asked for, as the store reads it off the wire, signed as the store would verify it. */
class RequestLineTest {

    static Stream<String> keys() {
        return Stream.of("a//b", "/a", "//", "a/", "./x", "../x", "a/../b/./c", "..", "a%2Fb",
                "a%2fb", "a+b", "a%2Bb", "a%20b", "a(b)", "a%28b%29", "!'()*;:@&=$,",
                "%C3%BC/%E6%BC%A2%F0%9F%98%80", "\u00fc/\u6f22", "%25", "%2525", "%7e", "%3Fx%23",
                "%00", "a%0D%0Ab", "k".repeat(1024), "%C3%BC".repeat(512));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aKeyArrivesAsAskedForBehindItsBucket(String key) {
        Received request = received(USUAL, "GET", key, null);
        assertThat(path(request)).startsWith("/bucket/");
        assertThat(decoded(path(request))).isEqualTo("/bucket/" + decoded(key));
        assertSigned(request);
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aKeyArrivesAsAskedForBelowItsHost(String key) {
        Received request = received(USUAL.virtualHost(), "GET", key, null);
        assertThat(decoded(path(request))).isEqualTo("/" + decoded(key));
        assertSigned(request);
    }

    /** And the store is not blamed for it. */
    @ParameterizedTest
    @ValueSource(strings = {" blank", "\tblank", "line\r\nX-A: b", "nul\0"})
    void aHeaderThatCannotBeSaidIsNotSent(String value) {
        try (ScriptedStore store = new ScriptedStore(status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 5; i++) {
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> Calls.await(backend.send(Requests.get(
                                new Target("bucket", "k", null), ScriptedBackend.CREDENTIAL,
                                Headers.builder().add("x-amz-meta-a", value).build()))))
                        .withMessageContaining("x-amz-meta-a");
            }
            assertThat(store.received()).isEmpty();
            assertThat(backend.stats().healthyEndpoints()).isEqualTo(1);
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
        }
    }

    /** Only the decoded key counts; what looks like a dot segment is part of it. */
    @Test
    void anEncodedSlashInTheKeyIsASlashOfTheKey() {
        assertThat(received(USUAL, "GET", "a%2F%2e%2e%2Fb", null).line())
                .isEqualTo("GET /bucket/a/../b HTTP/1.1");
    }

    @Test
    void theBucketIsInThePathOrInTheHost() {
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend inPath = ScriptedBackend.over(USUAL, store);
                AwsBackend inHost = ScriptedBackend.over(USUAL.virtualHost(), store)) {
            String authority = store.endpoint().getAuthority();
            calls(inPath).get("k");
            assertAddress(store.received().get(0), "GET /bucket/k HTTP/1.1", authority);
            calls(inPath).get("");
            assertAddress(store.received().get(1), "GET /bucket HTTP/1.1", authority);
            calls(inHost).get("k");
            assertAddress(store.received().get(2), "GET /k HTTP/1.1", "bucket." + authority);
            calls(inHost).get("");
            assertAddress(store.received().get(3), "GET / HTTP/1.1", "bucket." + authority);
            new Calls(inHost, null, ScriptedBackend.CREDENTIAL).get("");
            assertAddress(store.received().get(4), "GET / HTTP/1.1", authority);
        }
    }

    private static void assertAddress(Received request, String line, String host) {
        assertThat(request.line()).isEqualTo(line);
        assertThat(request.header("Host")).isEqualTo(host);
        assertThat(request.headers()).filteredOn(header -> header.startsWith("Host:")).hasSize(1);
        assertSigned(request);
    }

    /** A store takes {@code ?acl} and {@code ?acl=} for the same. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"acl|acl", "acl=|acl=", "versionId=|versionId=",
            "uploads&x=1|uploads&x=1", "a=1&b=2&a=3|a=1&b=2&a=3", "prefix=a+b|prefix=a%20b",
            "prefix=a%20b|prefix=a%20b", "prefix=a%2Bb|prefix=a%2Bb",
            "list-type=2&prefix=a%2Fb|list-type=2&prefix=a%2Fb",
            "list-type=2&prefix=a/b|list-type=2&prefix=a%2Fb", "prefix=%C3%BC|prefix=%C3%BC",
            "prefix=a%26b%3Dc|prefix=a%26b%3Dc", "prefix=a=b|prefix=a%3Db",
            "prefix=*~|prefix=%2A~"})
    void aQueryArrivesWithItsMeaning(String asked, String sent) {
        Received request = received(USUAL, "GET", "", asked);
        assertThat(request.line()).isEqualTo("GET /bucket?" + sent + " HTTP/1.1");
        assertSigned(request);
    }

    private static Received received(ScriptedBackend.Options options, String method, String key,
            @Nullable String query) {
        try (ScriptedStore store = new ScriptedStore(status(200, ""));
                AwsBackend backend = ScriptedBackend.over(options, store)) {
            assertThat(calls(backend).call(method, key, query, Headers.NONE, "").status())
                    .isEqualTo(200);
            return store.received().getFirst();
        }
    }

    private static void assertSigned(Received request) {
        assertThat(StoreSignature.sent(request))
                .isEqualTo(StoreSignature.expected(request, ScriptedBackend.CREDENTIAL));
    }

    private static String path(Received request) {
        return request.line().split(" ", -1)[1];
    }

    private static String decoded(String path) {
        return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
