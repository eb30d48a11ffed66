package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.FakeGateway.Mood;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/** Sessions of credentials that end. */
class SessionRenewalTest {
    private static final ObjectName NAME = new ObjectName("bucket", "object");
    private static final int BYTES = 1000;

    private final FakeGateway gateway;

    SessionRenewalTest() throws IOException {
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

    private static AwsCredentials ending(Instant end) {
        return AwsSessionCredentials.builder()
                .accessKeyId("AKID")
                .secretAccessKey(FakeGateway.SECRET)
                .sessionToken("token")
                .expirationTime(end)
                .build();
    }

    private void read(RailheadClient client, RegisteredBuffer buffer) {
        assertThat(client.get(Read.of(NAME, 0, BYTES, buffer, 0))
                .toCompletableFuture()
                .join()
                .bytes()).isEqualTo(BYTES);
    }

    @Test
    void aSessionIsReplacedBeforeItsCredentialsEndAndStaysForWhatIsUnderWay() {
        Instant end = Instant.now().plus(Duration.ofMinutes(2)).plusMillis(1500);
        AtomicInteger resolved = new AtomicInteger();
        gateway.credentials = () -> ending(
                resolved.getAndIncrement() == 0 ? end : end.plusSeconds(3600));
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(BYTES)) {
            read(client, buffer);
            read(client, buffer);
            assertThat(gateway.sessionsOpened).hasValue(1);
            long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (gateway.sessionsOpened.get() == 1 && System.nanoTime() < deadline) {
                read(client, buffer);
            }
            read(client, buffer);
            assertThat(gateway.sessionsOpened).hasValue(2);
            assertThat(gateway.peers.getFirst().isOpen()).isTrue();
        }
        assertThat(gateway.peersClosed).hasValue(2);
        assertThat(gateway.overHttp).hasValue(0);
    }

    @Test
    void aSessionThatCannotBeReplacedStays() {
        gateway.credentials = () -> ending(Instant.now());
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(BYTES)) {
            read(client, buffer);
            gateway.mood = Mood.REFUSE_SESSION;
            long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (gateway.sessionsOpened.get() == 1 && System.nanoTime() < deadline) {
                read(client, buffer);
            }
            read(client, buffer);
            assertThat(gateway.sessionsOpened).hasValue(2);
        }
        assertThat(gateway.peersClosed).hasValue(1);
    }

    @Test
    void revokedCredentialsAreReplacedOnce() {
        AtomicInteger made = new AtomicInteger();
        gateway.credentials = new RenewedCredentials(() -> {
            made.incrementAndGet();
            return () -> ending(Instant.now().plusSeconds(3600));
        });
        gateway.mood = Mood.REFUSE_TOKEN_ONCE;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(BYTES)) {
            read(client, buffer);
        }
        assertThat(made).hasValue(2);
    }

    @Test
    void credentialsThatCannotBeginAgainAreRefused() {
        gateway.mood = Mood.REFUSE_TOKEN_ONCE;
        try (RailheadClient client = gateway.client(Via.LOOPBACK, 1, Fallback.NONE);
                RegisteredBuffer buffer = client.register(BYTES)) {
            assertThatThrownBy(() -> read(client, buffer)).isInstanceOf(CompletionException.class)
                    .hasMessageContaining("InvalidToken");
        }
    }
}
