package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.FakeGateway.Mood;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The channel's client against a gateway that a test can put in any mood. */
class ChannelTransferTest {
    private static final ObjectName NAME = new ObjectName("bucket", "object");
    private static final int MIB = 1 << 20;
    private static final int OBJECT_BYTES = 40 * MIB + 5;

    private final FakeGateway gateway;
    private final byte[] object = new byte[OBJECT_BYTES];
    private final byte[] received = new byte[OBJECT_BYTES];

    @TempDir
    Path folder;

    ChannelTransferTest() throws IOException {
        gateway = new FakeGateway();
    }

    @BeforeEach
    void storeAnObject() {
        new Random(7).nextBytes(object);
        gateway.objects.put("/bucket/object", object);
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void everyByteArrivesInOneSessionWithoutHttp() throws IOException {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 3)) {
            client.get(NAME, sink(), Progress.NONE);
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).isEmpty();
            assertThat(client.parts()).isEqualTo(12);
        }

        assertThat(received).isEqualTo(object);
        assertThat(gateway.sessionsOpened).hasValue(1);
        assertThat(gateway.peersClosed).hasValue(1);
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void partsAreAskedForAheadAndTogetherAndShownInOrderToOneThread() throws IOException {
        List<Long> offsets = new ArrayList<>();
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            client.get(NAME, (offset, bytes) -> offsets.add(offset), Progress.NONE);
        }

        assertThat(offsets).containsExactly(0L, 8L * MIB, 16L * MIB, 24L * MIB, 32L * MIB,
                40L * MIB);
        assertThat(gateway.batches).first().isEqualTo(1);
        assertThat(gateway.batches).element(1).isEqualTo(2);
    }

    @Test
    void aDeclineGoesOverHttpAndIsCounted() throws IOException {
        gateway.mood = Mood.DECLINE;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).containsExactly(Map.entry("reserve", 6L));
            assertThat(client.parts()).isEqualTo(6);
        }
        assertThat(received).isEqualTo(object);
    }

    @Test
    void withoutFallbackADeclineIsAnErrorThatSaysWhy() {
        gateway.mood = Mood.DECLINE;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .isInstanceOf(IOException.class)
                    .hasMessage("not served via loopback: reserve");
        }
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void aGatewayThatCannotBeReachedIsAskedOnceAndPassedByOverHttp() throws IOException {
        gateway.mood = Mood.REFUSE_SESSION;
        try (RailheadClient client = gateway.client(Via.VERBS, 1)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines())
                    .containsExactly(Map.entry("not available: no such device", 6L));
        }
        assertThat(received).isEqualTo(object);
        assertThat(gateway.sessionsOpened).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"SHORT_COUNT", "OTHER_VERSION_LATER", "FAIL"})
    void anAnswerThatDoesNotAddUpIsAnError(Mood mood) {
        gateway.mood = mood;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"END_ONCE", "END_UNSERVED_ONCE", "BUSY_TWICE"})
    void aReadIsRepeatedInAFreshSessionOrLater(Mood mood) throws IOException {
        gateway.mood = mood;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 2)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).isEmpty();
        }
        assertThat(received).isEqualTo(object);
        assertThat(gateway.sessionsOpened).hasValue(mood == Mood.BUSY_TWICE ? 1 : 2);
    }

    @Test
    void aReadWhoseSessionsAlwaysEndGoesOverHttp() throws IOException {
        gateway.mood = Mood.END_ALWAYS;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).containsExactly(Map.entry("the channel ended", 6L));
        }
        assertThat(received).isEqualTo(object);
    }

    /** One that nobody can reach, and one whose address cannot be read. */
    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:1", "http://[", "ftp://127.0.0.1"})
    void ownersThatCannotBeReachedAreDoneWithout(String owner) throws IOException {
        gateway.placement = """
                , "placement": {"rule": "2", "run": 10, "members": {"a": "http://127.0.0.2:1",
                 "b": "%s"}}""".formatted(owner);
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE)) {
            client.get(NAME, sink(), Progress.NONE);
        }
        assertThat(received).isEqualTo(object);
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void aGatewayThatDoesNotAnswerLosesItsSessionAfterTheTimeout() throws IOException {
        gateway.mood = Mood.STALL_ONCE;
        gateway.timeout = Duration.ofSeconds(2);
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            client.get(NAME, sink(), Progress.NONE);
        }
        assertThat(received).isEqualTo(object);
        assertThat(gateway.sessionsOpened).hasValue(2);
    }

    @Test
    void aWindowThatAGatewayMayStillTouchIsNeverLentAgain() throws IOException {
        gateway.mood = Mood.STALL_ONCE;
        gateway.timeout = Duration.ofSeconds(1);
        gateway.letsGo = false;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .hasMessageContaining("did not let go");
            client.get(NAME, (offset, bytes) -> {
                gateway.peers.getFirst().goOn();
                sink().accept(offset, bytes);
            }, Progress.NONE);
        }
        assertThat(received).isEqualTo(object);
    }

    @Test
    void aReadIntoABufferThatAGatewayMayStillTouchIsNotRepeated() {
        gateway.mood = Mood.STALL_ONCE;
        gateway.timeout = Duration.ofSeconds(1);
        gateway.letsGo = false;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1);
                RegisteredBuffer buffer = client.register(100)) {
            CompletionStage<Part> part = client.get(Read.of(NAME, 0, 100, buffer, 0));
            assertThatThrownBy(() -> part.toCompletableFuture().join())
                    .hasMessageContaining("did not let go");
        }
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void aRefusalKeepsItsCode() {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            assertThatThrownBy(
                    () -> client.get(new ObjectName("bucket", "none"), sink(), Progress.NONE))
                    .isInstanceOfSatisfying(S3Exception.class,
                            e -> assertThat(e.code()).isEqualTo("NoSuchKey"));
        }
    }

    @Test
    void anEmptyObjectIsRead() throws IOException {
        gateway.objects.put("/bucket/object", new byte[0]);
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            assertThat(client.get(NAME, sink(), Progress.NONE).bytes()).isZero();
            assertThat(client.head(NAME).bytes()).isZero();
        }
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void aPutIsReadFromRegisteredMemoryAndItsChecksumIsNamed() throws IOException {
        byte[] content = put();

        assertThat(gateway.objects.get("/bucket/sent")).isEqualTo(content);
        assertThat(gateway.writes).singleElement()
                .satisfies(write -> assertThat(write.operation()).isEqualTo(RequestOperation.PUT))
                .satisfies(write -> assertThat(write.headers())
                        .containsKey("x-amz-checksum-crc32"));
    }

    @ParameterizedTest
    @EnumSource(names = {"DECLINE", "END_UNSERVED_ONCE", "REFUSE_SESSION"})
    void aPutThatWasNotExecutedIsSentAgain(Mood mood) throws IOException {
        gateway.mood = mood;
        assertThat(gateway.objects.get("/bucket/sent")).isNull();
        byte[] content = put();
        assertThat(gateway.objects.get("/bucket/sent")).isEqualTo(content);
    }

    @Test
    void aPutWithoutAnswerIsUnknownAndNeverRepeated() {
        gateway.mood = Mood.END_ONCE;
        assertThatThrownBy(this::put).isInstanceOf(IOException.class)
                .hasMessageContaining("unknown");
        assertThat(gateway.objects).doesNotContainKey("/bucket/sent");
        assertThat(gateway.channelRequests).hasValue(1);
    }

    @Test
    void aPutOfWhichTooFewBytesWereReadIsAnError() {
        gateway.mood = Mood.SHORT_COUNT;
        assertThatThrownBy(this::put).isInstanceOf(IOException.class);
    }

    @Test
    void rangesArriveWhereTheBufferSays() {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1);
                RegisteredBuffer buffer = client.register(1000)) {
            buffer.memory().fill((byte) 9);
            List<? extends CompletionStage<Part>> parts = client.getAll(
                    List.of(Read.of(NAME, 0, 100, buffer, 0), Read.of(NAME, 1000, 200, buffer, 300),
                            Read.of(NAME, OBJECT_BYTES - 10, 100, buffer, 600)));

            assertThat(parts).extracting(part -> part.toCompletableFuture().join().bytes())
                    .containsExactly(100, 200, 10);
            byte[] expected = new byte[1000];
            Arrays.fill(expected, (byte) 9);
            System.arraycopy(object, 0, expected, 0, 100);
            System.arraycopy(object, 1000, expected, 300, 200);
            System.arraycopy(object, OBJECT_BYTES - 10, expected, 600, 10);
            assertThat(buffer.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
        assertThat(gateway.batches).containsExactly(3);
    }

    @ParameterizedTest
    @EnumSource(Via.class)
    void aBufferServesInEachWayAndThroughASecondSession(Via via) {
        try (RailheadClient client = gateway.client(via, 1);
                RegisteredBuffer buffer = client.register(MIB)) {
            for (int i = 0; i < 3; i++) {
                Read read = Read.of(NAME, i * 1000L, 1000, buffer, i * 1000L);
                client.get(read).toCompletableFuture().join();
                gateway.peers.forEach(FakePeer::drop);
            }
            assertThat(buffer.memory().asSlice(0, 3000).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOf(object, 3000));
        }
        assertThat(gateway.sessionsOpened).hasValue(via == Via.HTTP ? 0 : 3);
    }

    @Test
    void aBatchMayTakeLongerThanTheTimeoutWhileAnswersCome() {
        gateway.mood = Mood.SLOWLY;
        gateway.timeout = Duration.ofSeconds(2);
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(200)) {
            List<Read> reads = IntStream.range(0, 200)
                    .mapToObj(i -> Read.of(NAME, i, 1, buffer, i))
                    .toList();
            assertThat(client.getAll(reads))
                    .allSatisfy(part -> assertThat(part.toCompletableFuture().join().bytes())
                            .isEqualTo(1));
            assertThat(buffer.memory().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOf(object, 200));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOOPBACK", "TOKEN"})
    void onlyReadsIntoARefusedBufferGoOverHttp(Via via) {
        try (RailheadClient client = gateway.client(via, 1);
                RegisteredBuffer taken = client.register(1000);
                RegisteredBuffer refused = client.register(2000)) {
            List<Read> reads = List.of(Read.of(NAME, 0, 1000, refused, 0),
                    Read.of(NAME, 0, 1000, taken, 0));
            client.getAll(reads).forEach(part -> part.toCompletableFuture().join());
            assertThat(client.declines()).isEmpty();

            gateway.refusedBytes = 2000;
            gateway.peers.forEach(FakePeer::drop);
            client.getAll(reads).forEach(part -> part.toCompletableFuture().join());
            assertThat(client.declines()).containsExactly(Map.entry(
                    "not available: the buffer is refused: too many bytes registered", 1L));
            assertThat(client.parts()).isEqualTo(4);
            assertThat(refused.memory().asSlice(0, 1000).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(Arrays.copyOf(object, 1000));
        }
        assertThat(gateway.sessionsOpened).hasValue(2);
    }

    @Test
    void aReadOfAnotherVersionFailsItsStage() {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1);
                RegisteredBuffer buffer = client.register(100)) {
            CompletionStage<Part> part = client
                    .get(Read.of(NAME, 0, 100, buffer, 0).withEtag("\"v0\""));
            assertThatThrownBy(() -> part.toCompletableFuture().join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(IOException.class);
        }
    }

    @Test
    void aClosedBufferIsKeptUntilNobodyWritesIntoIt() {
        gateway.mood = Mood.STALL;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            RegisteredBuffer buffer = client.register(100);
            CompletionStage<Part> part = client.get(Read.of(NAME, 0, 100, buffer, 0));
            Awaiting.until("one request", () -> gateway.channelRequests.get() == 1);
            buffer.close();
            assertThat(buffer.memory().scope().isAlive()).isTrue();
            assertThatThrownBy(() -> client.get(Read.of(NAME, 0, 100, buffer, 0)))
                    .isInstanceOf(IllegalStateException.class);

            gateway.mood = Mood.DELIVER;
            gateway.peers.getLast().close();
            part.toCompletableFuture().join();
            Awaiting.until("the memory is freed", () -> !buffer.memory().scope().isAlive());
            assertThat(gateway.peers.getLast().buffers()).isZero();
        }
    }

    @Test
    void aBatchThatNamesAClosedBufferIsRefusedAndKeepsNone() {
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            RegisteredBuffer open = client.register(100);
            RegisteredBuffer closed = client.register(100);
            closed.close();
            assertThatThrownBy(() -> client.getAll(List.of(Read.of(NAME, 0, 100, open, 0),
                    new Read(NAME, 0, 100, null, closed, 0))))
                    .isInstanceOf(IllegalStateException.class);
            open.close();
            Awaiting.until("the memory is freed", () -> !open.memory().scope().isAlive());
        }
        assertThat(gateway.channelRequests).hasValue(0);
    }

    private byte[] put() throws IOException {
        byte[] content = new byte[100_000];
        new Random(3).nextBytes(content);
        Path file = Files.write(folder.resolve("sent"), content);
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1)) {
            client.put(file, new ObjectName("bucket", "sent"), Progress.NONE);
        }
        return content;
    }

    private PartSink sink() {
        return (long offset, ByteBuffer bytes) -> bytes.get(received, (int) offset,
                bytes.remaining());
    }
}
