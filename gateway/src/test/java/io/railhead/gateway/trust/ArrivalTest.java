package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ArrivalTest {
    private static final Content OBJECT = Content.create(1, 100_000);

    private final Arrival arrival = new Arrival();

    /** To an answer that this befalls. */
    private CompletableFuture<Arrived> ask(HttpClient client, FaultProxy store, Toxic toxic) {
        store.plan(FaultPlan.always(toxic));
        return arrival.of(client
                .sendAsync(HttpRequest.newBuilder(store.endpoint()).build(), arrival));
    }

    private static FaultProxy store() {
        return new FaultProxy(
                _ -> Message.answer(200, OBJECT.bytes()).with("ETag", OBJECT.etag()));
    }

    @Test
    void allOfItIsWhole() {
        try (FaultProxy store = store(); HttpClient client = HttpClient.newHttpClient()) {
            Arrived all = ask(client, store, new Toxic.Latency(Duration.ZERO)).join();
            assertThat(all.whole()).isTrue();
            assertThat(all.body()).isEqualTo(OBJECT.bytes());
        }
    }

    @Test
    void ofOneThatIsCutWhatCameBeforeIsThere() {
        try (FaultProxy store = store(); HttpClient client = HttpClient.newHttpClient()) {
            Arrived cut = ask(client, store, new Toxic.Truncation(10)).join();
            assertThat(cut.whole()).isFalse();
            assertThat(cut.status()).isEqualTo(200);
            assertThat(cut.header("etag")).isEqualTo(OBJECT.etag());
            assertThat(cut.body()).isEqualTo(OBJECT.bytes(0, OBJECT.sizeBytes() - 10));
        }
    }

    @Test
    void ofOneThatStallsWhatHasComeIsThere() {
        try (FaultProxy store = store(); HttpClient client = HttpClient.newHttpClient()) {
            assertThat(arrival.soFar()).isNull();
            CompletableFuture<Arrived> sent = ask(client, store,
                    new Toxic.Stall(64, Duration.ofMinutes(1)));
            Deadline soon = new Deadline(Duration.ofSeconds(10), System::nanoTime);
            assertThat(soon.isMetBy(() -> bytesSoFar() == 64)).isTrue();
            assertThat(sent).isNotDone();
            client.shutdownNow();
        }
    }

    private int bytesSoFar() {
        Arrived come = arrival.soFar();
        return come == null ? 0 : come.body().length;
    }
}
