package io.railhead.gateway.channel;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestWindow;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests with several windows over a native channel. */
class ChannelWindowsIT {
    private static final int BUFFER = 8 << 20;
    private static final int PAGE = 256 << 10;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              policy: policy.json
            rules:
              - bucket: kv-*
                durability: none
              - freshness: immutable
            """).file("policy.json", """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "engine", "Action": "s3:*", "Resource": "*"}]}
            """).principals("""
            principals:
              - name: engine
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
            """);
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = gateway.closing(new TestPeer(gateway.client("AK", "SK"), "SK", BUFFER));
    }

    private RequestWindow window(long offset, long length) {
        return new RequestWindow(peer.key(), offset, length);
    }

    private Answer get(String bucket, RequestWindow... windows) {
        return peer.ask(Request.get(0, bucket, "k", List.of(windows)));
    }

    @Test
    void oneObjectIsSentFromWindowsAndReadIntoOthers() {
        byte[] block = random(3 * PAGE);
        peer.set(0, block);
        Answer put = peer.ask(Request.put(0, "kv-a", "k",
                List.of(window(2 * PAGE, PAGE), window(100, PAGE + 1)), Map.of()));
        assertThat(put.status()).as("%s", put).isEqualTo(200);
        assertThat(put.bytesMoved()).isEqualTo(2 * PAGE + 1);

        peer.fill(0);
        int there = 4 * PAGE;
        Answer got = get("kv-a", window(there + 5, 7), window(there + 1000, PAGE),
                window(there, 5), window(there + 3 * PAGE, PAGE - 11));
        assertThat(got.status()).as("%s", got).isEqualTo(200);
        assertThat(got.bytesMoved()).isEqualTo(2 * PAGE + 1);
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(block, 2 * PAGE, PAGE);
        whole.write(block, 100, PAGE + 1);
        byte[] object = whole.toByteArray();
        assertThat(peer.bytes(there + 5, 7)).isEqualTo(Arrays.copyOf(object, 7));
        assertThat(peer.bytes(there + 1000, PAGE))
                .isEqualTo(Arrays.copyOfRange(object, 7, PAGE + 7));
        assertThat(peer.bytes(there, 5))
                .isEqualTo(Arrays.copyOfRange(object, PAGE + 7, PAGE + 12));
        assertThat(peer.bytes(there + 3 * PAGE, PAGE - 11))
                .isEqualTo(Arrays.copyOfRange(object, PAGE + 12, object.length));
        assertThat(peer.bytes(there + 12, 988)).as("between them").containsOnly(0);
    }

    @Test
    void anObjectOfAStoreGoesIntoWindowsToo() {
        byte[] object = random(2 * PAGE + 9);
        store.put("/b/k", object);
        for (int i = 0; i < 2; i++) {
            peer.fill(0);
            Answer got = get("b", window(PAGE, 1), window(2 * PAGE, 2 * PAGE + 8));
            assertThat(got.status()).as("%s", got).isEqualTo(200);
            assertThat(peer.bytes(PAGE, 1)).containsExactly(object[0]);
            assertThat(peer.bytes(2 * PAGE, 2 * PAGE + 8))
                    .isEqualTo(Arrays.copyOfRange(object, 1, object.length));
        }
    }

    @Test
    void wrongWindowsMoveNothingAndTheSessionGoesOn() {
        peer.set(0, random(100));
        assertThat(peer.ask(Request.put(0, "kv-a", "k", List.of(window(0, 60), window(50, 40)),
                Map.of())).status()).as("a PUT may read twice").isEqualTo(200);
        peer.fill(0);
        Answer overlapping = get("kv-a", window(0, 60), window(59, 40));
        assertThat(overlapping.status()).isEqualTo(400);
        assertThat(overlapping.code()).isEqualTo("InvalidArgument");
        assertThat(overlapping.message()).contains("overlap");
        Answer beyond = get("kv-a", window(0, 60), window(BUFFER - 39, 40));
        assertThat(beyond.code()).isEqualTo("RDMAOutOfBounds");
        TestPeer other = gateway.closing(new TestPeer(gateway.client("AK", "SK"), "SK", BUFFER));
        Answer foreign = get("kv-a", window(0, 60), new RequestWindow(other.key(), 0, 40));
        assertThat(foreign.status()).as("another session's buffer").isEqualTo(403);
        assertThat(peer.bytes(0, BUFFER)).containsOnly(0);
        assertThat(other.bytes(0, BUFFER)).containsOnly(0);
        Answer smaller = get("kv-a", window(0, 10), window(20, 10));
        assertThat(smaller.status()).isEqualTo(206);
        assertThat(smaller.bytesMoved()).isEqualTo(20);
        assertThat(peer.bytes(10, 10)).containsOnly(0);
    }

    /** Compares seeded windows with a copy. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void anyWindowsAreFilledInTheirOrder(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 20; round++) {
            byte[] memory = random(BUFFER / 2);
            peer.set(0, memory);
            List<RequestWindow> from = windows(random, 0);
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            from.forEach(each -> whole.write(memory, (int) each.offset(), (int) each.length()));
            String key = "k" + round;
            assertThat(peer.ask(Request.put(0, "kv-a", key, from, Map.of())).status())
                    .as("seed %s", seed)
                    .isEqualTo(200);
            List<RequestWindow> to = new ArrayList<>();
            // The same bytes, cut at other places, in the upper half of the memory.
            int left = whole.size();
            for (int at = BUFFER / 2; left > 0; at += (int) to.getLast().length() + 3) {
                int length = to.size() == 63 ? left : Math.min(left, 1 + random.nextInt(PAGE));
                to.add(window(at, length));
                left -= length;
            }
            assertThat(peer.ask(Request.get(0, "kv-a", key, to)).status()).as("seed %s", seed)
                    .isEqualTo(200);
            ByteArrayOutputStream came = new ByteArrayOutputStream();
            to.forEach(each -> came.writeBytes(
                    peer.bytes(each.offset(), (int) each.length())));
            assertThat(came.toByteArray()).as("seed %s", seed).isEqualTo(whole.toByteArray());
        }
    }

    private List<RequestWindow> windows(Random random, int from) {
        List<RequestWindow> windows = new ArrayList<>();
        int at = from;
        for (int i = random.nextInt(12); i >= 0; i--) {
            int length = 1 + random.nextInt(i % 2 == 0 ? PAGE : 100);
            windows.add(window(at, length));
            at += length + random.nextInt(2000);
        }
        return windows;
    }
}
