package io.railhead.gateway;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.frontdoor.RawConnection;
import io.railhead.os.verbs.FakeMlx5;
import io.railhead.os.verbs.FakePeer;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.protocol.token.Token;
import io.railhead.rdma.dc.DcClient;
import io.railhead.rdma.session.ClientSession;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients whose tokens name a target of an mlx5 adapter, as cuObject's do: what lands in their
 * memory, when it is let go, and whose memory is nobody else's. The adapter is memory.
 */
@RequiresRdmaCore
class DcClientsIT {
    private static final long KEY = 0x1357_9bdf_0246_8aceL;
    private static final long GID_OF_CLIENT = 0xffff_0a00_0107L;
    private static final int BUFFER = 8 << 20;
    private static final byte MARK = 0x5a;

    @TempDir
    private Path folder;
    private final byte[] object = new byte[6_000_001];
    private final Arena arena = Arena.ofShared();
    private FakeStore store;
    private DcMachine machine;
    private TestGateway gateway;
    private TestClient client;
    private FakePeer peer;
    private MemorySegment memory;
    private int remoteKey;
    private int tokens;
    private String keyFile;

    @BeforeEach
    void start() throws Exception {
        new Random(1).nextBytes(object);
        machine = DcMachine.open();
        store = new FakeStore();
        store.put("/held/object", object);
        keyFile = "key_file: "
                + Files.writeString(folder.resolve("dc.key"), Long.toHexString(KEY) + "\n");
        gateway = start(keyFile, PRINCIPALS);
        client = gateway.client();
        peer = machine.adapter().peer(0, GID_OF_CLIENT, KEY);
        memory = arena.allocate(BUFFER, 4096);
        memory.fill(MARK);
        remoteKey = peer.register(memory);
    }

    private static final String PRINCIPALS = """
            principals:
              - name: trainer
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
                gids: ["10.0.1.7"]
              - name: other
                keys: [{access_key: OTHER, secret_key: other-secret}]
                rdma_put: true
            """;

    /** @param dc what of {@code rdma.dc} differs from the tests' */
    private TestGateway start(String dc, String principals) {
        return start("30s", "60s", dc, principals);
    }

    private TestGateway start(String decide, String fence, String dc, String principals) {
        TestGateway started = TestGateway.over(store.endpoint())
                .config("""
                        gateway:
                          allow_cleartext: true
                        rdma:
                          decide_timeout: %s
                          fence_timeout: %s
                          dc: {enabled: true, initiators: 1, %s}
                        rules:
                          - bucket: held
                            freshness: immutable
                        """.formatted(decide, fence, dc))
                .principals(principals)
                .environment(Environment.REAL.withMachine(machine))
                .start();
        // Of this second nobody can say whether it was before the start.
        long second = Instant.now().getEpochSecond();
        TestGateway.await(() -> Instant.now().getEpochSecond() > second);
        return started;
    }

    @AfterEach
    void stop() {
        machine.adapter().release();
        gateway.assertNoLease();
        gateway.close();
        store.close();
        assertThat(machine.adapter().objects()).isZero();
        machine.adapter().close();
        arena.close();
    }

    /** Another one each time: a token is good once. */
    private String[] token() {
        tokens++;
        return token(BUFFER - tokens);
    }

    private String[] token(int length) {
        String token = new Token(memory.address(), length, remoteKey, 0, peer.number(),
                peer.gid()).format();
        assertThat(token).hasSize(81);
        return new String[]{"x-amz-rdma-token", token};
    }

    private byte[] bytes(int length) {
        return memory.asSlice(0, length).toArray(JAVA_BYTE);
    }

    private static void assertDelivered(HttpResponse<byte[]> answer, long bytes) {
        assertThat(answer.statusCode()).as(new String(answer.body())).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).contains("200");
        assertThat(answer.headers().firstValue("x-amz-rdma-bytes-transferred"))
                .contains(Long.toString(bytes));
        assertThat(answer.body()).isEmpty();
    }

    private static void assertDeclined(HttpResponse<byte[]> answer, String reason) {
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertThat(answer.headers().firstValue("x-railhead-rdma-declined")).contains(reason);
    }

    @Test
    void anObjectLandsWhereTheTokenSaysColdAndHeld() {
        for (int round = 0; round < 2; round++) {
            memory.fill(MARK);
            assertDelivered(client.get("/held/object", token()), object.length);
            assertThat(bytes(object.length)).isEqualTo(object);
            assertThat(memory.asSlice(object.length).toArray(JAVA_BYTE)).containsOnly(MARK);
        }
        assertThat(gateway.metric("railhead_fabric_transfers_total{fabric=\"dc\",}")).isEqualTo(2);
        assertThat(
                gateway.metric("railhead_fabric_bytes_total{fabric=\"dc\",direction=\"write\",}"))
                .isEqualTo(2 * object.length);
        assertThat(gateway.metric("railhead_fabric_usable{fabric=\"dc\",}")).isEqualTo(1);
    }

    @Test
    void anUploadIsReadWhereTheTokenSays() {
        byte[] upload = Arrays.copyOf(object, 3_000_000);
        memory.copyFrom(MemorySegment.ofArray(upload));
        assertDelivered(client.put("/b/uploaded", new byte[0], token(upload.length)),
                upload.length);
        assertThat(store.object("/b/uploaded")).isEqualTo(upload);
    }

    @Test
    void memoryOfAnotherMachineIsForbidden() {
        HttpResponse<byte[]> answer = gateway.client("OTHER", "other-secret")
                .get("/held/object", token());
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(new String(answer.body())).contains("<Code>RDMAForeignAddress</Code>");
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertThat(machine.adapter().posted()).isEmpty();
        assertThat(gateway.metric("railhead_rdma_refused_total{reason=\"foreign_address\",}"))
                .isEqualTo(1);
    }

    @Test
    void aTokenWithoutAGidIsForbidden() {
        String token = new Token(memory.address(), BUFFER, remoteKey, 5, peer.number(),
                "0".repeat(32)).format();
        HttpResponse<byte[]> answer = client.get("/held/object", "x-amz-rdma-token", token);
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(new String(answer.body())).contains("<Code>RDMAForeignAddress</Code>");
    }

    @Test
    void aMemoryKeyThatTheClientNeverGaveEndsInAnErrorAndTheNextTokenIsServed() {
        remoteKey++;
        HttpResponse<byte[]> answer = client.get("/held/object", token());
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(new String(answer.body())).contains("<Code>RDMARemoteAccessError</Code>");
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        assertThat(bytes(BUFFER)).containsOnly(MARK);
        remoteKey--;
        assertDelivered(client.get("/held/object", token()), object.length);
    }

    @Test
    void aClientThatDoesNotAnswerIsFencedInTimeAndNothingIsWrittenAfterwards() throws Exception {
        gateway.close();
        gateway = start("500ms", "1500ms", keyFile, PRINCIPALS);
        client = gateway.client();
        peer.stall();
        HttpResponse<byte[]> fenced = client
                .sendAsync("GET", "/held/object", new byte[0], token())
                .get(20, TimeUnit.SECONDS);
        assertThat(fenced.statusCode()).isEqualTo(500);
        assertThat(new String(fenced.body())).contains("<Code>RDMATransferFenced</Code>");
        assertThat(fenced.headers().firstValue("x-amz-rdma-reply")).isEmpty();
        gateway.assertNoLease();
        peer.resume();
        assertThat(bytes(BUFFER)).containsOnly(MARK);
        assertDelivered(client.get("/held/object", token()), object.length);
    }

    @Test
    void aClientThatClosesItsConnectionHasItsBufferBack() throws Exception {
        machine.adapter().hold();
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(
                    client.signed("GET", "/held/object", new byte[0], token())) + "\r\n");
            TestGateway.await(() -> machine.adapter().pending() > 0);
            raw.reset();
        }
        TestGateway.await(() -> machine.adapter().pending() == 0);
        gateway.assertNoLease();
        machine.adapter().release();
        assertThat(bytes(BUFFER)).containsOnly(MARK);
    }

    @Test
    void whereATenantsInitiatorsAreAllInUseTheObjectComesInTheBody() throws Exception {
        assertDelivered(client.get("/held/object", token()), object.length);
        machine.adapter().hold();
        CompletableFuture<HttpResponse<byte[]>> first = client.sendAsync("GET", "/held/object",
                new byte[0], token());
        TestGateway.await(() -> machine.adapter().pending() > 0);
        CompletableFuture<HttpResponse<byte[]>> second = client.sendAsync("GET", "/held/object",
                new byte[0], token());
        ClientSession any = new DcClient("trainer", "default", InetAddress.ofLiteral("10.0.1.7"), 0,
                1);
        TestGateway.await(() -> !machine.fabric().health(any).usable());
        HttpResponse<byte[]> third = client.get("/held/object", token());
        assertDeclined(third, "busy");
        assertThat(third.body()).isEqualTo(object);
        machine.adapter().release();
        assertDelivered(first.get(20, TimeUnit.SECONDS), object.length);
        assertDelivered(second.get(20, TimeUnit.SECONDS), object.length);
    }

    @Test
    void theWellKnownKeyServesOneTenantAlone() throws Exception {
        String second = PRINCIPALS + "    tenant: another\n";
        assertThatThrownBy(() -> start("mtu: auto", second)).hasMessage("rdma.dc.key_file: is"
                + " missing, and with the well-known DC key no tenant's memory is its own; write a"
                + " random one of 16 hex digits there and into every client's configuration");
        Path wellKnown = Files.writeString(folder.resolve("known.key"), "0xFFEEDDCC");
        assertThatThrownBy(() -> start("key_file: " + wellKnown, second))
                .hasMessageStartingWith("rdma.dc.key_file: holds that key, and");
        try (TestGateway one = start("mtu: auto", PRINCIPALS)) {
            FakePeer wellKnownPeer = machine.adapter().peer(0, GID_OF_CLIENT, 0xffee_ddccL);
            int key = wellKnownPeer.register(memory);
            peer = wellKnownPeer;
            remoteKey = key;
            TestClient own = one.client();
            assertDelivered(own.get("/held/object", token()), object.length);
            Files.writeString(one.directory().resolve("credentials.yaml"), second);
            one.credentials().reload();
            assertDeclined(own.get("/held/object", token()), "dc_key");
        }
    }

    @Test
    void aKeyFileThatHoldsNoKeySaysSo() throws Exception {
        Path bad = Files.writeString(folder.resolve("bad.key"), "not a key");
        assertThatThrownBy(() -> start("key_file: " + bad, PRINCIPALS))
                .hasMessage("rdma.dc.key_file: must hold one key of 1 to 16 hex digits");
        assertThatThrownBy(() -> start("key_file: " + folder.resolve("none"), PRINCIPALS))
                .hasMessageStartingWith("rdma.dc.key_file: cannot be read: ");
    }

    @Test
    void withoutAnAdapterOfTheMakerTokensAreDeclined() {
        try (TestGateway none = TestGateway.over(store.endpoint())
                .config("rdma: {dc: {enabled: true, device: %s}}".formatted(FakeMlx5.DEVICE))
                .principals(PRINCIPALS)
                .start()) {
            assertDeclined(none.client().get("/held/object", token()), "fabric");
        }
    }
}
