package io.railhead.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.MemoryStats;
import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.gateway.s3.sigv4.HandSigned;
import io.railhead.rdma.OpenDescriptors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * One gateway for a table of requests that it must refuse: each is answered with S3's own error,
 * counted, not forwarded, and after all of them nothing is held that was not held before.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class Refusals {
    private static final String SMUGGLED = "GET /b/smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
    private static final String NOT_TO_BE = "/b/new";

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private MemoryStats before;
    private long descriptorsBefore;

    @BeforeAll
    void start() {
        store.put("/b/key", "0123456789".getBytes(ISO_8859_1));
        store.put("/b/smuggled", new byte[10]);
        try (RawConnection raw = connect()) {
            requireServes(raw);
        }
        TestGateway.await(() -> gateway.metric("railhead_requests_in_flight") == 0);
        gateway.assertNoLease();
        before = gateway.memory();
        descriptorsBefore = OpenDescriptors.count();
    }

    @AfterAll
    void nothingIsHeld() {
        assertThat(gateway.memory()).isEqualTo(before);
        // The pool towards the store, and ours towards the metrics, may hold a few more.
        TestGateway.await(() -> OpenDescriptors.count() <= descriptorsBefore + 20);
        assertThat(store.count("GET /b/smuggled")).isZero();
        assertThat(gateway.metrics())
                .doesNotContain("railhead_errors_total{code=\"InternalError\"");
    }

    /**
     * A request and the answer to it.
     *
     * @param wire each char one byte
     */
    public record Refusal(String name, String wire, int status, String code) {
        @Override
        public String toString() {
            String printable = name.replaceAll("[^ -~]", "~");
            return printable.substring(0, Math.min(60, printable.length())) + " is " + code;
        }
    }

    public RawConnection connect() {
        return new RawConnection(gateway.endpoint());
    }

    public FakeStore store() {
        return store;
    }

    double counted(String code) {
        return gateway.metric("railhead_errors_total{code=\"" + code + "\",}");
    }

    public static HandSigned get() {
        return new HandSigned("GET", "/b/key", "");
    }

    /** Whether the connection is where both ends think that it is. */
    public static void requireServes(RawConnection raw) {
        RawConnection.Answer answer = raw.send(get().head()).receive();
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("0123456789");
    }

    /** Nothing of what came behind it is taken for a request. */
    public void refusedAndClosed(Refusal refusal) {
        refused(refusal, refusal.wire() + SMUGGLED,
                raw -> assertThat(raw.isClosedByPeer()).isTrue());
    }

    /** What comes behind it is the next request. */
    public void refused(Refusal refusal) {
        refused(refusal, refusal.wire(), Refusals::requireServes);
    }

    private void refused(Refusal refusal, String wire,
            Consumer<RawConnection> then) {
        int forwarded = store.requests().size();
        double errors = counted(refusal.code());
        try (RawConnection raw = connect()) {
            RawConnection.Answer answer = raw.sendWhilePossible(wire.getBytes(ISO_8859_1))
                    .receive();
            assertThat(answer.body()).contains("<Error><Code>" + refusal.code() + "</Code>");
            assertThat(answer.status()).isEqualTo(refusal.status());
            assertThat(answer.headers()).containsKey("x-amz-request-id")
                    .containsEntry("content-type", "application/xml");
            // Only uploads of a declared length are begun before their end is seen.
            assertThat(store.requestsAfter(forwarded)).allMatch(
                    request -> request.equals("PUT " + NOT_TO_BE + " -"));
            then.accept(raw);
        }
        assertThat(counted(refusal.code())).isEqualTo(errors + 1);
        assertThat(store.object(NOT_TO_BE)).isNull();
    }
}
