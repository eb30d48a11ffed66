package io.railhead.rdma.loopback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Part;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.Read;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.S3Exception;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.loopback.LoopbackGateway.Mood;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client on a real channel: sockets, shared memory, credits. */
@Timeout(120)
class LoopbackTransferTest {
    private static final ObjectName NAME = new ObjectName("b", "object");
    private static final int MIB = 1 << 20;
    private static final int CREDITS = 4;

    @TempDir
    Path folder;

    private final Random random = new Random(11);
    private final byte[] object = new byte[20 * MIB + 5];
    private LoopbackGateway gateway;

    @BeforeEach
    void start() throws IOException {
        random.nextBytes(object);
        gateway = new LoopbackGateway(folder, CREDITS);
        gateway.objects.put("b/object", object);
    }

    @AfterEach
    void stop() {
        Awaiting.until("no page is leased", () -> gateway.leases() == 0);
        Awaiting.until("nothing is registered", () -> gateway.registeredBytes() == 0);
        gateway.close();
    }

    @Test
    void aFileComesBackAsItWent() throws IOException {
        Path sent = Files.write(folder.resolve("sent"), object);
        ObjectName name = new ObjectName("b", "whole");
        Path small = Files.write(folder.resolve("small"), Arrays.copyOf(object, 5 * MIB + 3));
        Path received = folder.resolve("received");
        try (RailheadClient client = gateway.client(3, Fallback.NONE)) {
            client.put(small, name, Progress.NONE);
            client.get(name, received, Progress.NONE);
            assertThat(Files.mismatch(small, received)).isEqualTo(-1);

            client.get(NAME, received, Progress.NONE);
            assertThat(Files.mismatch(sent, received)).isEqualTo(-1);
        }
        assertThat(gateway.sessionsOpened).hasValue(1);
    }

    /** Random ranges, many at a time, far more than there are credits; others stay untouched. */
    @Test
    void randomRangesLieWhereTheyBelong() {
        int slot = 300_000;
        int slots = 40;
        try (RailheadClient client = gateway.client(1, Fallback.NONE);
                RegisteredBuffer buffer = client.register((long) slot * slots)) {
            for (int round = 0; round < 5; round++) {
                buffer.memory().fill((byte) 0x5a);
                byte[] expected = new byte[slot * slots];
                Arrays.fill(expected, (byte) 0x5a);
                List<Read> reads = new ArrayList<>();
                for (int i = 0; i < slots; i++) {
                    int bytes = 1 + random.nextInt(i % 4 == 0 ? slot : 5000);
                    int at = i * slot + random.nextInt(slot - bytes + 1);
                    int first = random.nextInt(object.length);
                    reads.add(Read.of(NAME, first, bytes, buffer, at));
                    System.arraycopy(object, first, expected, at,
                            Math.min(bytes, object.length - first));
                }
                for (CompletionStage<Part> part : client.getAll(reads)) {
                    assertThat(part.toCompletableFuture().join().total())
                            .isEqualTo(object.length);
                }
                assertThat(Arrays.equals(buffer.memory().toArray(ValueLayout.JAVA_BYTE), expected))
                        .isTrue();
            }
        }
    }

    @Test
    void aRefusalNamesItsRequestAsTheGatewayDoes() {
        try (RailheadClient client = gateway.client(1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(100)) {
            CompletableFuture<Part> part = client
                    .get(Read.of(new ObjectName("b", "none"), 0, 100, buffer, 0))
                    .toCompletableFuture();
            assertThatThrownBy(part::join).hasCauseInstanceOf(S3Exception.class)
                    .rootCause()
                    .isInstanceOfSatisfying(S3Exception.class, e -> {
                        assertThat(e.requestId()).matches("[0-9a-f]{1,6}/\\d+");
                        assertThat(e).hasMessage(
                                "NoSuchKey: gone (request " + e.requestId() + ")");
                    });
        }
    }

    @Test
    void aRevokedSessionIsReplacedAndReadsAreRepeated() {
        gateway.mood = Mood.HOLD;
        try (RailheadClient client = gateway.client(1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(100)) {
            CompletableFuture<Part> part = client.get(Read.of(NAME, 1000, 100, buffer, 0))
                    .toCompletableFuture();
            Awaiting.until("a request is held", () -> !gateway.held.isEmpty());
            gateway.mood = Mood.SERVE;
            gateway.revoke();

            assertThat(part.join().bytes()).isEqualTo(100);
            assertThat(buffer.memory().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOfRange(object, 1000, 1100));
        }
        assertThat(gateway.sessionsOpened).hasValue(2);
    }

    @Test
    void aPutWhoseSessionIsRevokedIsUnknown() throws IOException {
        gateway.mood = Mood.HOLD;
        Path file = Files.write(folder.resolve("sent"), new byte[1000]);
        try (RailheadClient client = gateway.client(1, Fallback.NONE)) {
            Thread revoking = Thread.ofVirtual().start(() -> {
                Awaiting.until("a request is held", () -> !gateway.held.isEmpty());
                gateway.revoke();
            });
            assertThatThrownBy(() -> client.put(file, NAME, Progress.NONE))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("unknown");
            Awaiting.until("it is revoked", () -> !revoking.isAlive());
        }
        assertThat(gateway.sessionsOpened).hasValue(1);
    }

    @Test
    void aGatewayThatGoesAwayInMidTransferFailsTheReadWithItsReason() {
        gateway.mood = Mood.HOLD;
        RailheadClient client = gateway.client(1, Fallback.NONE);
        try (client; RegisteredBuffer buffer = client.register(100)) {
            CompletableFuture<Part> part = client.get(Read.of(NAME, 0, 100, buffer, 0))
                    .toCompletableFuture();
            Awaiting.until("a request is held", () -> !gateway.held.isEmpty());
            gateway.closeFabric();
            assertThatThrownBy(part::join).hasRootCauseInstanceOf(IOException.class)
                    .hasMessageContaining("not served via loopback");
        }
    }

    @Test
    void aDeclineWithoutFallbackIsAnError() {
        gateway.mood = Mood.DECLINE;
        try (RailheadClient client = gateway.client(1, Fallback.NONE)) {
            assertThatThrownBy(() -> client.get(NAME, (_, _) -> {}, Progress.NONE))
                    .hasMessage("not served via loopback: reserve");
        }
    }
}
