package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.FakeGateway.Mood;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is asked over HTTP and comes late, or never. */
class FailingHttpTest {
    private static final ObjectName NAME = new ObjectName("bucket", "object");
    private static final int BYTES = 20_000;

    private final FakeGateway gateway;

    @TempDir
    Path folder;

    FailingHttpTest() throws IOException {
        gateway = new FakeGateway();
    }

    @BeforeEach
    void storeAnObject() {
        gateway.objects.put("/bucket/object", new byte[BYTES]);
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private long read(RailheadClient client) throws IOException {
        return client.get(NAME, (offset, bytes) -> {}, Progress.NONE).bytes();
    }

    @Test
    void aReadThatComesTooLateIsAskedForAgain() throws IOException {
        gateway.timeout = Duration.ofSeconds(2);
        gateway.mood = Mood.STALL_ONCE;
        try (RailheadClient client = gateway.client(Via.HTTP, 1)) {
            assertThat(read(client)).isEqualTo(BYTES);
        }
        assertThat(gateway.overHttp.get()).isGreaterThan(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN", "LOOPBACK"})
    void aSessionThatIsNotGrantedInTimeIsPassedByOverHttp(Via via) throws IOException {
        gateway.timeout = Duration.ofSeconds(2);
        gateway.mood = Mood.STALL_SESSION;
        try (RailheadClient client = gateway.client(via, 1)) {
            assertThat(read(client)).isEqualTo(BYTES);
            assertThat(client.declines()).hasSize(1);
        }
    }

    @Test
    void whatCannotBeHadIsNotTriedAgain() {
        AtomicInteger tries = new AtomicInteger();
        assertThatThrownBy(() -> Attempts.idempotent(() -> {
            tries.incrementAndGet();
            throw new NotAvailableException("no such device");
        })).isInstanceOf(NotAvailableException.class);
        assertThat(tries).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP", "TOKEN"})
    void readsAtATimeAreAsManyAsStreams(Via via) {
        gateway.mood = Mood.SLOWLY;
        try (RailheadClient client = gateway.client(via, 3);
                RegisteredBuffer buffer = client.register(BYTES)) {
            List<Read> reads = IntStream.range(0, 40)
                    .mapToObj(i -> Read.of(NAME, i * 100L, 100, buffer, i * 100L))
                    .toList();
            for (CompletionStage<Part> part : client.getAll(reads)) {
                part.toCompletableFuture().join();
            }
        }
        assertThat(gateway.mostUnderWay.get()).isBetween(1, 3);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP", "TOKEN"})
    void aPutWithoutAnswerIsUnknownAndNeverRepeated(Via via) throws IOException {
        gateway.mood = Mood.HANG_UP;
        Path file = Files.write(folder.resolve("sent"), new byte[1000]);
        try (RailheadClient client = gateway.client(via, 1)) {
            assertThatThrownBy(
                    () -> client.put(file, new ObjectName("bucket", "sent"), Progress.NONE))
                    .hasMessageContaining("whether it was stored is unknown");
        }
        assertThat(gateway.objects).containsKey("/bucket/sent");
        assertThat(gateway.puts).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP", "TOKEN", "LOOPBACK"})
    void aPutThatTheStoreFailedIsUnknownAndNeverRepeated(Via via) throws IOException {
        gateway.mood = Mood.STORE_SILENT;
        Path file = Files.write(folder.resolve("sent"), new byte[1000]);
        try (RailheadClient client = gateway.client(via, 1, Fallback.NONE)) {
            assertThatThrownBy(
                    () -> client.put(file, new ObjectName("bucket", "sent"), Progress.NONE))
                    .isInstanceOf(OutcomeUnknownException.class)
                    .hasCauseInstanceOf(S3Exception.class);
        }
        assertThat(gateway.puts.get() + gateway.channelRequests.get()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"500, InternalError, true", "503, ServiceUnavailable, true",
            "507, InsufficientStorage, true", "503, SlowDown, false", "501, NotImplemented, false",
            "500, RDMATransferFenced, false", "412, PreconditionFailed, false"})
    void onlyWhatSaysThatNothingWasDoneIsCertain(int status, String code, boolean doubtful) {
        assertThat(new S3Exception(status, code, "").isDoubtful()).isEqualTo(doubtful);
    }

    @Test
    void aPutThatReachedNobodyIsNotUnknown() throws IOException {
        gateway.close();
        Path file = Files.write(folder.resolve("sent"), new byte[1000]);
        try (RailheadClient client = gateway.client(Via.HTTP, 1)) {
            assertThatThrownBy(() -> client.put(file, NAME, Progress.NONE))
                    .isInstanceOf(ConnectException.class);
        }
    }
}
