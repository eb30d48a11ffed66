package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One-sided delivery by token against a gateway that a test can put in any mood. */
class TokenTransferTest {
    private static final ObjectName NAME = new ObjectName("bucket", "object");
    private static final int MIB = 1 << 20;

    private final FakeGateway gateway;

    @TempDir
    Path folder;

    TokenTransferTest() throws IOException {
        gateway = new FakeGateway();
    }

    @BeforeEach
    void storeAnObject() {
        byte[] object = new byte[20 * MIB + 5];
        new Random(7).nextBytes(object);
        gateway.objects.put("/bucket/object", object);
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void everyByteArrivesInOneSession() throws IOException {
        try (RailheadClient client = gateway.client(Via.TOKEN, 3)) {
            client.get(NAME, sink(), Progress.NONE);
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).isEmpty();
        }

        assertThat(received).isEqualTo(gateway.objects.get("/bucket/object"));
        assertThat(gateway.sessionsOpened).hasValue(1);
        assertThat(gateway.peersClosed).hasValue(1);
    }

    @Test
    void theTokenIsSignedAndNoTwoRequestsAreAlike() throws IOException {
        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            client.get(NAME, sink(), Progress.NONE);
        }

        List<String> signatures = gateway.requests.stream()
                .filter(request -> request.containsKey("X-amz-rdma-token"))
                .map(request -> request.getOrDefault("Authorization", List.of("")).getFirst())
                .toList();
        assertThat(signatures).hasSize(3)
                .doesNotHaveDuplicates()
                .allSatisfy(
                        header -> assertThat(header).contains("x-amz-rdma-token",
                                "x-railhead-request-id"));
        assertThat(gateway.requests.getLast().get("X-amz-content-sha256"))
                .containsExactly("UNSIGNED-PAYLOAD");
    }

    @Test
    void aDeclineIsServedFromTheBodyAndCounted() throws IOException {
        gateway.mood = FakeGateway.Mood.DECLINE;

        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).containsEntry("reserve", 3L);
        }

        assertThat(received).isEqualTo(gateway.objects.get("/bucket/object"));
    }

    @ParameterizedTest
    @EnumSource(names = {"SHORT_COUNT", "WRONG_REPLY", "REPLY_AND_BODY", "NO_COUNT",
            "OTHER_VERSION_LATER", "FAIL"})
    void anAnswerThatDoesNotAddUpIsAnError(FakeGateway.Mood mood) {
        gateway.mood = mood;

        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void memoryOfARequestWithoutAnswerIsNeverUsedAgain() {
        gateway.mood = FakeGateway.Mood.HANG_UP;

        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .isInstanceOf(IOException.class);
        }

        assertThat(gateway.sessionsOpened.get()).isGreaterThan(1);
        assertThat(gateway.peersClosed.get()).isEqualTo(gateway.sessionsOpened.get());
    }

    @Test
    void memoryThatAGatewayDoesNotLetGoOfFailsItsRequest() {
        gateway.mood = FakeGateway.Mood.HANG_UP;
        gateway.letsGo = false;

        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            assertThatThrownBy(() -> client.get(NAME, sink(), Progress.NONE))
                    .hasMessageContaining("did not let go");
        }

        assertThat(gateway.sessionsOpened).hasValue(1);
    }

    @Test
    void aRefusalKeepsItsCode() {
        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            assertThatThrownBy(
                    () -> client.get(new ObjectName("bucket", "none"), sink(), Progress.NONE))
                    .isInstanceOfSatisfying(S3Exception.class,
                            e -> assertThat(e.code()).isEqualTo("NoSuchKey"));
        }
    }

    @Test
    void aSmallerWindowGoesOverHttpAndIsCounted() throws IOException {
        gateway.maxWindow = "65536";

        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            client.get(NAME, sink(), Progress.NONE);
            assertThat(client.declines()).containsExactly(Map.entry(
                    "not available: the gateway's windows have only 65536 bytes", 3L));
        }

        assertThat(received).isEqualTo(gateway.objects.get("/bucket/object"));
    }

    @Test
    void aPutIsReadFromRegisteredMemory() throws IOException {
        byte[] content = put();

        assertThat(gateway.objects.get("/bucket/sent")).isEqualTo(content);
        assertThat(gateway.requests.getLast()).containsKey("X-amz-checksum-crc32")
                .containsEntry("Content-length", List.of("0"));
    }

    @Test
    void aDeclinedPutIsSentAgainInABody() throws IOException {
        gateway.mood = FakeGateway.Mood.DECLINE;

        byte[] content = put();

        assertThat(gateway.objects.get("/bucket/sent")).isEqualTo(content);
    }

    @Test
    void aStoreThatIgnoresTheTokenOfAPutIsAnError() {
        gateway.mood = FakeGateway.Mood.STORE_NOTHING;

        assertThatThrownBy(this::put).hasMessageContaining("empty");
    }

    private byte[] put() throws IOException {
        byte[] content = new byte[100_000];
        new Random(3).nextBytes(content);
        Path file = Files.write(folder.resolve("sent"), content);
        try (RailheadClient client = gateway.client(Via.TOKEN, 1)) {
            client.put(file, new ObjectName("bucket", "sent"), Progress.NONE);
        }
        return content;
    }

    private final byte[] received = new byte[20 * MIB + 5];

    private PartSink sink() {
        return (long offset, ByteBuffer bytes) -> bytes.get(received, (int) offset,
                bytes.remaining());
    }
}
