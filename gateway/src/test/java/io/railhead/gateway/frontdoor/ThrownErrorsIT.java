package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.Environment;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.rdma.Fabric;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An {@link Error} out of the midst of a request, planted in the clock and the fabric that a class
 * uses: its client is answered, it is counted, nothing stays leased, and the next one is served.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ThrownErrorsIT {
    private static final int BUFFER = 4 << 20;
    private static final byte[] OBJECT = RandomBytes.random(1, 1_000_000);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config("""
                    rules:
                      - bucket: held
                        freshness: immutable
                    """)
            .principals(TestGateway.UPLOADER)
            .environment(
                    Environment.REAL.withClock(this::nanoTime).withFabrics(this::faulty));
    private final TestClient client = gateway.client();
    private TestPeer peer;
    private volatile String planted = "";

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(client, "SK", BUFFER));
        store.put("/held/object", OBJECT);
        store.put("/b/object", OBJECT);
    }

    @AfterEach
    void stop() {
        planted = "";
    }

    private long nanoTime() {
        String where = planted;
        if (!where.isEmpty() && StackWalker.getInstance()
                .walk(frames -> frames
                        .anyMatch(frame -> frame.getClassName().endsWith("." + where)))) {
            throw new NoSuchFieldError("planted in " + where);
        }
        return System.nanoTime();
    }

    private Fabric faulty(Fabric fabric) {
        return (Fabric) Proxy.newProxyInstance(Fabric.class.getClassLoader(),
                new Class<?>[]{Fabric.class}, (_, method, arguments) -> {
                    if (method.getName().equals("begin") && planted.equals("Fabric")) {
                        throw new NoSuchFieldError("planted in the fabric");
                    }
                    try {
                        return method.invoke(fabric, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void assertFailed(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).isEqualTo(500);
        if (!answer.request().method().equals("HEAD")) {
            assertThat(new String(answer.body())).contains("<Code>InternalError</Code>");
        }
    }

    private void assertCounted(String where) {
        assertThat(gateway.metric("railhead_internal_errors_total{where=\"" + where + "\",}"))
                .isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"ObjectRead, GET, /held/object",
            "ObjectHead, HEAD, /held/object",
            "ObjectProbe, GET, /b/object", "ObjectProbe, HEAD, /b/object"})
    void aReadOfWhatIsHeldIsAnswered(String where, String method, String path) {
        assertThat(client.get(path).body()).isEqualTo(OBJECT);
        planted = where;
        // The condition keeps a GET off the hit path.
        assertFailed(method.equals("GET")
                ? client.get(path, "If-Match", FakeStore.etag(OBJECT))
                : client.head(path));
        planted = "";
        assertCounted("request");
        assertThat(client.get(path).body()).isEqualTo(OBJECT);
    }

    /** The next reader must not join a fetch that was never sent. */
    @Test
    void aReadOfWhatIsColdIsAnsweredAndSoIsTheNext() {
        planted = "ObjectDiscovery";
        assertFailed(client.get("/held/object"));
        planted = "";
        assertCounted("request");
        assertThat(client.get("/held/object").body()).isEqualTo(OBJECT);
    }

    /**
     * {@link io.railhead.gateway.object.read.HitLookup} is asked before Vert.x hears of a request,
     * which then serves it.
     */
    @Test
    void whatIsThrownOnTheHitPathIsCountedAndTheRequestServed() {
        byte[] small = new byte[1000];
        store.put("/held/small", small);
        assertThat(client.get("/held/small").statusCode()).isEqualTo(200);
        planted = "HitLookup";
        // A busy event loop leaves the hit path out.
        TestGateway.await(() -> {
            try (RawConnection raw = new RawConnection(gateway.endpoint())) {
                assertThat(raw.send(RawConnection
                        .head(client.signed("GET", "/held/small", new byte[0])) + "\r\n")
                        .receive()
                        .status())
                        .isEqualTo(200);
            }
            return gateway.metric("railhead_internal_errors_total{where=\"request\",}") > 0;
        });
        planted = "";
        assertThat(client.get("/held/small").body()).isEqualTo(small);
    }

    @Test
    void requestsWithATokenAreAnswered() {
        planted = "Fabric";
        assertFailed(client.get("/held/object", peer.headers(0, BUFFER)));
        assertFailed(client.put("/b/new", new byte[0], peer.headers(0, 1000)));
        planted = "";
        assertThat(store.object("/b/new")).isNull();
        assertThat(client.get("/held/object", peer.headers(0, BUFFER)).statusCode())
                .isEqualTo(200);
    }

    private Answer ask(RequestOperation operation) {
        return peer.ask(switch (operation) {
            case GET -> Request.get(0, "held", "object", peer.key(), 0, BUFFER);
            case HEAD -> Request.head(0, "held", "object");
            case PUT, UPLOAD_PART -> Request.put(0, "b", "new", peer.key(), 0, 1000, Map.of());
            case EXISTS, PREFIX, DELETE, DELETE_PREFIX, LEASE, TOUCH, USAGE, REMOVALS ->
                throw new IllegalArgumentException("no request of one object: " + operation);
        });
    }

    @ParameterizedTest
    @CsvSource({"ChannelHitHandler, GET", "ObjectHead, HEAD", "Fabric, PUT"})
    void nativeRequestsAreAnswered(String where, RequestOperation operation) {
        assertThat(client.get("/held/object").body()).isEqualTo(OBJECT);
        assertThat(ask(RequestOperation.GET).status()).isEqualTo(200);
        planted = where;
        Answer failed = ask(operation);
        assertThat(failed.status()).as("%s", failed).isEqualTo(500);
        assertThat(failed.code()).isEqualTo("InternalError");
        planted = "";
        assertCounted("channel");
        assertThat(ask(operation).status()).isEqualTo(200);
    }
}
