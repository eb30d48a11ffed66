package io.railhead.gateway.channel;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.Removals;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.RemovedKeys;
import io.railhead.protocol.channel.RemovedKeys.Reason;
import io.railhead.protocol.channel.RemovedKeys.Removed;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Subscribers on native channels are told which cache-only objects went. */
class RemovalsIT {
    private static final int BUFFER = 8 << 20;
    private static final int LONG = 60_000;
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["engine", "stranger"], "Action": "s3:*",
               "Resource": ["arn:aws:s3:::kv-a", "arn:aws:s3:::kv-a/*", "arn:aws:s3:::b/*"]},
              {"Effect": "Allow", "Principal": "reader", "Action": "s3:GetObject",
               "Resource": "arn:aws:s3:::kv-a/%s/*"}]}
            """;
    private static final String CONFIG = """
            gateway:
              policy: policy.json
            cache:
              memory: 128MiB
            rules:
              - bucket: kv-*
                durability: none
                ttl: 1h
            """;

    private final FakeStore store = new FakeStore();
    private final AtomicLong nanos = new AtomicLong();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(CONFIG)
            .clock(() -> System.nanoTime() + nanos.get())
            .file("policy.json", POLICY.formatted("open"))
            .principals("""
                    principals:
                      - name: engine
                        tenant: first
                        keys: [{access_key: AK, secret_key: SK}]
                        rdma_put: true
                      - name: reader
                        tenant: first
                        keys: [{access_key: READER, secret_key: reader-secret}]
                        rdma_put: true
                      - name: stranger
                        tenant: second
                        keys: [{access_key: OTHER, secret_key: other-secret}]
                        rdma_put: true
                    """);
    private TestPeer peer;

    @BeforeEach
    void start() {
        peer = peer("AK", "SK");
    }

    private TestPeer peer(String accessKey, String secretKey) {
        return peer(accessKey, secretKey, BUFFER);
    }

    private TestPeer peer(String accessKey, String secretKey, int bufferBytes) {
        return gateway.closing(
                new TestPeer(gateway.client(accessKey, secretKey), secretKey, bufferBytes));
    }

    private void put(String key, byte[] block) {
        peer.set(0, block);
        assertThat(peer.ask(Request.put(0, "kv-a", key, peer.key(), 0, block.length, Map.of()))
                .status()).as(key).isEqualTo(200);
    }

    private void hold(String... keys) {
        for (String key : keys) {
            put(key, key.getBytes());
        }
    }

    private void delete(String... keys) {
        assertThat(peer.ask(Request.ofKeys(0, RequestOperation.DELETE, "kv-a", "",
                KeyBlock.ofTexts(List.of(keys)))).isSuccess()).isTrue();
    }

    private static Request removals(String prefix, int millis) {
        return Request.removals(0, "kv-a", prefix, millis);
    }

    private static RemovedKeys told(Answer answer) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        return RemovedKeys.of(answer);
    }

    private static void begin(TestPeer who, String prefix) {
        assertThat(told(who.ask(removals(prefix, LONG)))).as("the subscription's begin")
                .isEqualTo(new RemovedKeys(true, List.of()));
    }

    /** Asks until so many removals have come; more than one answer may bring them. */
    private static List<Removed> next(TestPeer who, String prefix, int count) {
        List<Removed> removed = new ArrayList<>();
        while (removed.size() < count) {
            RemovedKeys more = told(who.ask(removals(prefix, LONG)));
            assertThat(more.anew()).isFalse();
            removed.addAll(more.removed());
        }
        return removed;
    }

    @Test
    void aWaitEndsWithTheKeysThatWereDeleted() {
        hold("p/a", "p/b", "q");
        begin(peer, "p/");
        CompletableFuture<Answer> waiting = peer.send(removals("p/", LONG));
        delete("q");
        assertThat(waiting).isNotDone();
        delete("p/b");
        assertThat(told(waiting.join())).isEqualTo(new RemovedKeys(false,
                List.of(new Removed("b", Reason.DELETED))));
        delete("p/a");
        assertThat(next(peer, "p/", 1)).containsExactly(new Removed("a", Reason.DELETED));
    }

    @Test
    void aWaitWithoutRemovalsEndsEmpty() {
        begin(peer, "");
        assertThat(told(peer.ask(removals("", 1)))).isEqualTo(new RemovedKeys(false, List.of()));
    }

    @Test
    void evictionsAndExpiriesAreTold() {
        hold("old");
        begin(peer, "");
        byte[] large = random(BUFFER);
        for (int i = 0; i < 20; i++) {
            put("large" + i, large);
        }
        assertThat(next(peer, "", 1)).first().isEqualTo(new Removed("old", Reason.EVICTED));
        hold("late");
        nanos.addAndGet(Duration.ofHours(2).toNanos());
        List<Removed> all = new ArrayList<>();
        TestGateway.await(() -> {
            Answer _ = peer.ask(Request.ofKeys(0, RequestOperation.EXISTS, "kv-a", "",
                    KeyBlock.ofTexts(List.of("late"))));
            all.addAll(told(peer.ask(removals("", 1))).removed());
            return all.contains(new Removed("late", Reason.EXPIRED));
        });
    }

    @Test
    void nobodyIsToldOfWhatItMayNotRead() throws IOException {
        hold("open/a", "closed/a", "open/b", "closed/b");
        TestPeer reader = peer("READER", "reader-secret");
        TestPeer stranger = peer("OTHER", "other-secret");
        begin(reader, "");
        begin(stranger, "");
        CompletableFuture<Answer> unheard = stranger.send(removals("", 300));
        delete("closed/a", "open/a");
        assertThat(next(reader, "", 1)).containsExactly(new Removed("open/a", Reason.DELETED));
        assertThat(told(unheard.join())).isEqualTo(new RemovedKeys(false, List.of()));

        // Rights are those at the time of the answer, even for a request that waits.
        CompletableFuture<Answer> waiting = reader.send(removals("", LONG));
        Files.writeString(gateway.directory().resolve("policy.json"), POLICY.formatted("closed"));
        TestGateway.await(() -> reader.ask(Request.ofKeys(0, RequestOperation.PREFIX, "kv-a", "",
                KeyBlock.ofTexts(List.of("closed/b")))).objectSize() == 1);
        delete("open/b");
        delete("closed/b");
        assertThat(told(waiting.join()).removed())
                .containsExactly(new Removed("closed/b", Reason.DELETED));
    }

    @Test
    void aSubscriberThatIsTooSlowLearnsThatItLostSome() {
        int many = RemovalSubscription.MAX_UNTOLD + 1;
        begin(peer, "p/");
        for (int i = 0; i < many; i++) {
            hold("p/" + i);
        }
        Request clear = Request.ofKeys(0, RequestOperation.DELETE_PREFIX, "kv-a", "p/",
                KeyBlock.NONE);
        while (peer.ask(clear).objectSize() > 0) {
            assertThat(peer.ask(Request.head(0, "kv-a", "none")).status()).isEqualTo(404);
        }
        RemovedKeys after = told(peer.ask(removals("p/", LONG)));
        assertThat(after.anew()).isTrue();
        assertThat(after.removed()).hasSize(1);
        assertThat(gateway.metric("railhead_cache_only_removals_lost_total"))
                .isEqualTo(RemovalSubscription.MAX_UNTOLD);
        hold("p/x");
        delete("p/x");
        assertThat(next(peer, "p/", 1)).containsExactly(new Removed("x", Reason.DELETED));
    }

    @Test
    void manyRemovalsTakeSeveralAnswers() {
        begin(peer, "");
        List<Removed> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            String key = "é".repeat(100) + i;
            hold(key);
            delete(key);
            expected.add(new Removed(key, Reason.DELETED));
        }
        assertThat(next(peer, "", 100)).isEqualTo(expected);
    }

    @Test
    void aCancelledWaitEndsItsSubscription() {
        begin(peer, "");
        CompletableFuture<Answer> waiting = peer.send(removals("", LONG).withId(77));
        peer.cancel(77);
        assertThat(waiting.join().code()).isEqualTo(Answer.CANCELLED);
        assertThat(gateway.metric("railhead_cache_only_subscriptions")).isZero();
        begin(peer, "");
    }

    @Test
    void aSessionsEndEndsItsSubscriptions() {
        begin(peer, "");
        CompletableFuture<Answer> _ = peer.send(removals("", LONG));
        assertThat(gateway.metric("railhead_cache_only_subscriptions")).isEqualTo(1);
        peer.leave();
        TestGateway.await(() -> gateway.metric("railhead_cache_only_subscriptions") == 0);
        peer = peer("AK", "SK");
        begin(peer, "");
    }

    @Test
    void aRuleThatGoesEndsTheSubscription() throws Exception {
        begin(peer, "");
        CompletableFuture<Answer> waiting = peer.send(removals("", 300));
        gateway.reconfigure(CONFIG.replace("kv-*", "kx-*"));
        assertThat(waiting.join().code()).isEqualTo("unsupported");
        gateway.reconfigure(CONFIG);
        begin(peer, "");
    }

    @Test
    void aGatewayThatStopsDoesNotWaitForSubscribers() {
        begin(peer, "");
        CompletableFuture<Answer> waiting = peer.send(removals("", LONG));
        gateway.restart(CONFIG);
        assertThat(waiting.join().status()).isZero();
    }

    @Test
    void waitsThatCannotBeAreRefused() {
        assertRefused(peer.ask(removals("", 60_001)), 400, "60000");
        for (int i = 0; i < RemovalSubscriptions.MAX_SUBSCRIPTIONS; i++) {
            begin(peer, "p" + i);
        }
        assertRefused(peer.ask(removals("", 1)), 503, "at most 8");
        CompletableFuture<Answer> waiting = peer.send(removals("p0", LONG).withId(78));
        assertRefused(peer.ask(removals("p0", 1)), 400, "waits already");
        peer.cancel(78);
        assertThat(waiting.join().code()).isEqualTo(Answer.CANCELLED);
        assertThat(peer.ask(Request.removals(0, "b", "", 1)).code()).isEqualTo("unsupported");
    }

    @Test
    void aTenantsSessionsShareItsSubscriptions() {
        List<TestPeer> peers = new ArrayList<>();
        for (int i = 0; i < Removals.MAX_OF_BUCKET; i++) {
            if (i % RemovalSubscriptions.MAX_SUBSCRIPTIONS == 0) {
                peers.add(peer("AK", "SK", 4096));
            }
            begin(peers.getLast(), "p" + i);
        }
        assertRefused(peer.ask(removals("", 1)), 503, "at most 64");
        assertRefused(peer("READER", "reader-secret", 4096).ask(removals("", 1)), 503,
                "at most 64");
        begin(peer("OTHER", "other-secret", 4096), "");
        peers.getFirst().leave();
        TestGateway.await(
                () -> gateway.metric("railhead_cache_only_subscriptions") < Removals.MAX_OF_BUCKET);
        begin(peer, "");
    }

    private static void assertRefused(Answer answer, int status, String words) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(status);
        assertThat(answer.message()).contains(words);
    }
}
