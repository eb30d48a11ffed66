package io.railhead.gateway.rdma.pairing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.s3.body.Crc64Nvme;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.token.RcToken;
import io.railhead.rdma.pairing.RcDescriptor;
import io.railhead.rdma.verbs.PairedPeer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients of both dialects that bring a queue pair, as their libraries go about it. */
@RequiresVerbs
@Timeout(300)
class PairedClientsIT {
    private static final InetAddress PEER = InetAddress.ofLiteral("10.99.0.2");
    private static final int COOKIE = 0xFEEDBEEF;
    private static final int SEQUENCE = 0x654321;
    private static final int OBJECT = 700_000;
    private static final int STAGING = 4 << 20;

    private final Arena arena = Arena.ofShared();
    private final byte[] object = new byte[OBJECT];
    private final List<PairedPeer> peers = new ArrayList<>();
    private final FakeStore store = new FakeStore();
    // Emulation is slow: hence the long timeouts.
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rdma:
              pair_idle: 20s
              decide_timeout: 30s
              fence_timeout: 60s
              staging: 4MiB
              verbs:
                enabled: true
                listen: [10.99.0.1]
                retry_count: 1
            rules:
              - bucket: held
                freshness: immutable
              - bucket: plain
                rdma: off
            """).principals("""
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                gids: ["10.99.0.2"]
                rdma_put: true
              - name: stranger
                keys: [{access_key: AK2, secret_key: SK2}]
                gids: ["10.99.0.2"]
              - name: elsewhere
                keys: [{access_key: AK3, secret_key: SK3}]
            """);
    private final TestClient client = gateway.client();
    private final TestClient other = gateway.client("AK2", "SK2");

    @BeforeEach
    void start() {
        new Random(1).nextBytes(object);
        store.put("/held/object", object);
        store.put("/plain/object", object);
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        // The peers' queue pairs outlive the gateway's.
        gateway.assertNoLease();
        gateway.close();
        for (PairedPeer peer : peers) {
            peer.close();
        }
        arena.close();
    }

    private PairedPeer peer() throws IOException {
        PairedPeer peer = new PairedPeer(PEER, SEQUENCE);
        peers.add(peer);
        return peer;
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static String token(PairedPeer peer) {
        return RcDescriptor.of(peer.own(), peer.port()).format();
    }

    /** What the gateway answered, as a client reads it. */
    private static QueuePairEnd gatewayEnd(HttpResponse<?> answer) {
        assertThat(answer.statusCode()).as(String.valueOf(answer.headers())).isEqualTo(200);
        String reply = header(answer, "x-amz-rdma-reply");
        assertThat(reply).startsWith("200:").hasSize(92);
        assertThat(header(answer, "x-amz-rdma-psn")).matches("[0-9a-f]{6}")
                .isNotEqualTo("000000");
        assertThat(header(answer, "x-amz-rdma-session")).matches("[0-9a-f]{32}");
        return RcDescriptor.parse(reply.substring(4))
                .end(HexFormat.fromHexDigits(header(answer, "x-amz-rdma-psn")));
    }

    private static String crc64(byte[] bytes) {
        Crc64Nvme crc = new Crc64Nvme();
        crc.update(bytes);
        return "CRC64NVME " + Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(8).putLong(0, crc.getValue()).array());
    }

    // ---- hipobj-rc-v2

    private static HttpResponse<byte[]> prepare(TestClient who, PairedPeer peer, String operation,
            String target, long size, long offset) {
        return who.send("POST", "/.hipobj-rc/prepare", new byte[0], "x-amz-rdma-protocol",
                "hipobj-rc-v2", "x-amz-rdma-token", token(peer), "x-amz-rdma-psn",
                HexFormat.of().toHexDigits(SEQUENCE, 6), "x-amz-rdma-cookie",
                HexFormat.of().toHexDigits(COOKIE), "x-amz-rdma-op", operation,
                "x-amz-rdma-target", target, "x-amz-rdma-size", Long.toString(size),
                "x-amz-rdma-offset", Long.toString(offset));
    }

    private static CompletableFuture<HttpResponse<byte[]>> ready(TestClient who, PairedPeer peer,
            String session, MemorySegment memory, int key) {
        return who.sendAsync("POST", "/.hipobj-rc/ready", new byte[0], "x-amz-rdma-protocol",
                "hipobj-rc-v2", "x-amz-rdma-session", session, "x-amz-rdma-cookie",
                HexFormat.of().toHexDigits(COOKIE), "x-amz-rdma-qpn",
                HexFormat.of().toHexDigits((long) peer.own().number()), "x-amz-rdma-mr-addr",
                HexFormat.of().toHexDigits(memory.address()), "x-amz-rdma-mr-rkey",
                HexFormat.of().toHexDigits(key));
    }

    /** Bytes of the object, or fewer where it ends before. */
    private void hipobjGets(int size, int offset) throws Exception {
        PairedPeer peer = peer();
        MemorySegment memory = arena.allocate(size, 4096);
        int key = peer.register(memory);
        HttpResponse<byte[]> prepared = prepare(client, peer, "GET", "/held/object", size, offset);
        peer.connect(gatewayEnd(prepared));
        assertThat(header(prepared, "x-amz-rdma-protocol")).isEqualTo("hipobj-rc-v2");
        assertThat(header(prepared, "x-amz-rdma-qpn"))
                .isEqualTo(Integer.toHexString(gatewayEnd(prepared).number()));
        peer.postReceive();
        CompletableFuture<HttpResponse<byte[]>> answer = ready(client, peer,
                header(prepared, "x-amz-rdma-session"), memory, key);
        assertThat(peer.awaitImmediate()).isEqualTo(COOKIE);
        byte[] expected = Arrays.copyOfRange(object, offset, Math.min(OBJECT, offset + size));
        assertThat(memory.asSlice(0, expected.length).toArray(JAVA_BYTE)).isEqualTo(expected);

        HttpResponse<byte[]> done = answer.get(60, TimeUnit.SECONDS);
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(header(done, "x-amz-rdma-protocol")).isEqualTo("hipobj-rc-v2");
        assertThat(header(done, "x-amz-rdma-cookie")).isEqualTo("feedbeef");
        assertThat(header(done, "x-amz-rdma-bytes-transferred"))
                .isEqualTo(String.valueOf(expected.length));
        assertThat(header(done, "x-amz-rdma-etag")).isEqualTo(FakeStore.etag(object));
        assertThat(header(done, "x-amz-rdma-checksum")).isEqualTo(crc64(expected));
        assertThat(done.body()).isEmpty();
    }

    @Test
    void hipobjGetsAnObjectARangeAndWhatThereIs() throws Exception {
        hipobjGets(OBJECT, 0);
        hipobjGets(5000, 123_456);
        hipobjGets(OBJECT, OBJECT - 7);
        assertThat(gateway.metric(
                "railhead_rdma_requests_total{dialect=\"hipobj\",result=\"delivered\",}"))
                .isEqualTo(3);
        TestGateway.await(() -> gateway.metric(
                "railhead_fabric_sessions{fabric=\"verbs\",}") == 0);
    }

    @Test
    void hipobjIsToldBeforeItWaitsWhatItCannotHave() throws Exception {
        PairedPeer peer = peer();
        assertThat(prepare(client, peer, "GET", "/held/none", 10, 0).statusCode()).isEqualTo(404);
        assertThat(prepare(client, peer, "GET", "/held/object", 10, OBJECT).statusCode())
                .isEqualTo(416);
        assertThat(prepare(client, peer, "GET", "/plain/object", 10, 0).statusCode())
                .isEqualTo(501);
        HttpResponse<byte[]> foreign = prepare(gateway.client("AK3", "SK3"), peer, "GET",
                "/held/object", 10, 0);
        assertThat(foreign.statusCode()).isEqualTo(403);
        assertThat(new String(foreign.body(), StandardCharsets.UTF_8))
                .contains("RDMAForeignAddress");
        HttpResponse<byte[]> put = prepare(other, peer, "PUT", "/held/new", 10, 0);
        assertThat(put.statusCode()).as("no rdma_put").isEqualTo(501);
        assertThat(header(put, "x-amz-rdma-protocol-status")).isEqualTo("unsupported");
        assertThat(prepare(client, peer, "PUT", "/held/new", STAGING + 1, 0).statusCode())
                .isEqualTo(501);
    }

    @Test
    void anothersSessionIsNobodysAndATransferIsMadeOnce() throws Exception {
        PairedPeer peer = peer();
        MemorySegment memory = arena.allocate(4096, 4096);
        int key = peer.register(memory);
        HttpResponse<byte[]> prepared = prepare(client, peer, "GET", "/held/object", 4096, 0);
        String session = header(prepared, "x-amz-rdma-session");
        peer.connect(gatewayEnd(prepared));
        assertThat(ready(other, peer, session, memory, key).join().statusCode()).isEqualTo(403);
        HttpResponse<byte[]> cancelled = other.send("POST", "/.hipobj-rc/cancel", new byte[0],
                "x-amz-rdma-protocol", "hipobj-rc-v2", "x-amz-rdma-session", session,
                "x-amz-rdma-cookie", "00000000");
        assertThat(cancelled.statusCode()).isEqualTo(204);
        peer.postReceive();
        CompletableFuture<HttpResponse<byte[]>> answer = ready(client, peer, session, memory, key);
        assertThat(peer.awaitImmediate()).isEqualTo(COOKIE);
        assertThat(answer.join().statusCode()).isEqualTo(200);
        assertThat(ready(client, peer, session, memory, key).join().statusCode())
                .isGreaterThanOrEqualTo(400);
    }

    @Test
    void aKeyThatIsNoneHarmsItsSessionAlone() throws Exception {
        PairedPeer liar = peer();
        MemorySegment memory = arena.allocate(OBJECT, 4096);
        int key = liar.register(memory);
        HttpResponse<byte[]> prepared = prepare(client, liar, "GET", "/held/object", OBJECT, 0);
        liar.connect(gatewayEnd(prepared));
        liar.postReceive();
        HttpResponse<byte[]> answer = ready(client, liar, header(prepared, "x-amz-rdma-session"),
                memory, key ^ 0x3300).get(90, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body())).contains("RDMARemoteAccessError");
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
        hipobjGets(1000, 0);
    }

    @Test
    void aClientThatDiesInMidTransferLeavesNothing() throws Exception {
        PairedPeer peer = peer();
        MemorySegment memory = arena.allocate(OBJECT, 4096);
        int key = peer.register(memory);
        HttpResponse<byte[]> prepared = prepare(client, peer, "GET", "/held/object", OBJECT, 0);
        peer.connect(gatewayEnd(prepared));
        peer.die();
        HttpResponse<byte[]> answer = ready(client, peer, header(prepared, "x-amz-rdma-session"),
                memory, key).get(120, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(500);
        TestGateway.await(() -> gateway.metric(
                "railhead_fabric_sessions{fabric=\"verbs\",}") == 0);
    }

    @Test
    void hipobjPutsWhatItWrote() throws Exception {
        PairedPeer peer = peer();
        MemorySegment memory = arena.allocate(OBJECT, 4096);
        MemorySegment.copy(object, 0, memory, JAVA_BYTE, 0, OBJECT);
        int key = peer.register(memory);
        HttpResponse<byte[]> prepared = prepare(client, peer, "PUT", "/held/new", OBJECT, 0);
        peer.connect(gatewayEnd(prepared));
        CompletableFuture<HttpResponse<byte[]>> answer = ready(client, peer,
                header(prepared, "x-amz-rdma-session"), memory, key);
        assertThat(peer.write(memory, key,
                Long.parseUnsignedLong(header(prepared, "x-amz-rdma-mr-addr"), 16),
                Integer.parseUnsignedInt(header(prepared, "x-amz-rdma-mr-rkey"), 16), COOKIE))
                .isZero();
        HttpResponse<byte[]> done = answer.get(60, TimeUnit.SECONDS);
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(header(done, "x-amz-rdma-cookie")).isEqualTo("feedbeef");
        assertThat(header(done, "x-amz-rdma-etag")).isEqualTo(FakeStore.etag(object));
        assertThat(header(done, "x-amz-rdma-checksum")).isEqualTo(crc64(object));
        assertThat(store.object("/held/new")).isEqualTo(object);
    }

    @Test
    void aPutThatIsGivenUpStoresNothing() throws Exception {
        PairedPeer peer = peer();
        HttpResponse<byte[]> prepared = prepare(client, peer, "PUT", "/held/new", STAGING, 0);
        assertThat(prepared.statusCode()).isEqualTo(200);
        assertThat(prepare(client, peer, "PUT", "/held/new", 1, 0).statusCode())
                .as("all staging is taken")
                .isEqualTo(503);
        HttpResponse<byte[]> cancelled = client.send("POST", "/.hipobj-rc/cancel", new byte[0],
                "x-amz-rdma-protocol", "hipobj-rc-v2", "x-amz-rdma-session",
                header(prepared, "x-amz-rdma-session"), "x-amz-rdma-cookie", "feedbeef");
        assertThat(cancelled.statusCode()).isEqualTo(204);
        TestGateway.await(() -> prepare(client, peer, "PUT", "/held/new", STAGING, 0)
                .statusCode() == 200);
        assertThat(store.object("/held/new")).isNull();
    }

    // ---- connect

    private static HttpResponse<byte[]> connect(TestClient who, PairedPeer peer) {
        return who.send("POST", "/.s3rdma-rc/connect", new byte[0], "x-amz-rdma-token",
                token(peer), "x-amz-rdma-psn", HexFormat.of().toHexDigits(SEQUENCE, 6));
    }

    @Test
    void aQueuePairIsConnectedAndDisconnectedByWhoSigned() throws Exception {
        PairedPeer peer = peer();
        HttpResponse<byte[]> connected = connect(client, peer);
        peer.connect(gatewayEnd(connected));
        String session = header(connected, "x-amz-rdma-session");
        assertThat(other.send("POST", "/.s3rdma-rc/disconnect", new byte[0],
                "x-amz-rdma-session", session).statusCode()).isEqualTo(403);
        assertThat(gateway.metric("railhead_fabric_sessions{fabric=\"verbs\",}")).isOne();
        assertThat(client.send("POST", "/.s3rdma-rc/disconnect", new byte[0],
                "x-amz-rdma-session", session).statusCode()).isEqualTo(200);
        TestGateway.await(() -> gateway.metric(
                "railhead_fabric_sessions{fabric=\"verbs\",}") == 0);
        assertThat(connect(gateway.client("AK3", "SK3"), peer).statusCode()).isEqualTo(403);
        assertThat(client.send("POST", "/.s3rdma-rc/connect", new byte[0], "x-amz-rdma-token",
                token(peer), "x-amz-rdma-psn", "000000").statusCode()).isEqualTo(400);
    }

    private static String rcToken(HttpResponse<?> connected, MemorySegment memory, long size,
            int key) {
        return new RcToken(header(connected, "x-amz-rdma-session"), memory.address(), size, key)
                .format();
    }

    @Test
    void requestsWithATokenMoveBytesBothWays() throws Exception {
        PairedPeer peer = peer();
        HttpResponse<byte[]> connected = connect(client, peer);
        peer.connect(gatewayEnd(connected));
        MemorySegment memory = arena.allocate(OBJECT, 4096);
        int key = peer.register(memory);
        String token = rcToken(connected, memory, OBJECT, key);
        HttpResponse<byte[]> got = client.get("/held/object", "x-amz-rdma-token", token);
        assertThat(got.statusCode()).as(String.valueOf(got.headers())).isEqualTo(200);
        assertThat(header(got, "x-amz-rdma-reply")).isEqualTo("200");
        assertThat(header(got, "x-amz-rdma-bytes-transferred")).isEqualTo("" + OBJECT);
        assertThat(got.body()).isEmpty();
        assertThat(memory.toArray(JAVA_BYTE)).isEqualTo(object);

        HttpResponse<byte[]> put = client.put("/held/copy", new byte[0], "x-amz-rdma-token",
                token);
        assertThat(put.statusCode()).isEqualTo(200);
        assertThat(store.object("/held/copy")).isEqualTo(object);

        memory.fill((byte) 0);
        HttpResponse<byte[]> range = client.get("/held/object", "x-amz-rdma-token",
                rcToken(connected, memory, 5000, key), "range", "bytes=100000-103999");
        assertThat(range.statusCode()).isEqualTo(206);
        assertThat(header(range, "x-amz-rdma-reply")).isEqualTo("206");
        assertThat(memory.asSlice(0, 4000).toArray(JAVA_BYTE))
                .isEqualTo(Arrays.copyOfRange(object, 100_000, 104_000));
        assertThat(memory.asSlice(4000).toArray(JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void aTokenIsGoodForItsPrincipalWithItsKeyWhileItsSessionLasts() throws Exception {
        PairedPeer peer = peer();
        HttpResponse<byte[]> connected = connect(client, peer);
        peer.connect(gatewayEnd(connected));
        MemorySegment memory = arena.allocate(OBJECT, 4096);
        int key = peer.register(memory);
        String token = rcToken(connected, memory, OBJECT, key);
        assertThat(other.get("/held/object", "x-amz-rdma-token", token).statusCode())
                .isEqualTo(403);
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
        assertThat(client.get("/held/object", "x-amz-rdma-token",
                rcToken(connected, memory, OBJECT, key ^ 0x1100)).statusCode()).isEqualTo(400);
        TestGateway.await(() -> client.get("/held/object", "x-amz-rdma-token", token)
                .statusCode() == 403);
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(0);
        hipobjGets(1000, 0);
    }
}
