package io.railhead.gateway.channel;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.HeldKeys;
import io.railhead.protocol.channel.KeyBlock;
import io.railhead.protocol.channel.KeyUsage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many cache-only objects over a native channel; no test may cost the store a request. */
class ChannelKeysIT {
    private static final int BUFFER = 8 << 20;
    private static final int BLOCK = 4096;
    private static final int HASH = 32;
    private static final int HASHES_OF_A_MESSAGE = 120;
    private static final Map<String, String> ONCE = Map.of("if-none-match", "*");
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["engine", "stranger"], "Action": "s3:*",
               "Resource": ["arn:aws:s3:::kv-a", "arn:aws:s3:::kv-a/*", "arn:aws:s3:::b/*"]},
              {"Effect": "Allow", "Principal": "reader", "Action": "s3:GetObject",
               "Resource": "arn:aws:s3:::kv-a/open/*"}]}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              policy: policy.json
            cache:
              memory: 128MiB
            rules:
              - bucket: kv-*
                durability: none
                ttl: 1h
            """).file("policy.json", POLICY).principals("""
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

    @AfterEach
    void theStoreKnowsNothingOfIt() {
        assertThat(store.requests()).noneMatch(line -> line.contains("kv-a/"));
    }

    private TestPeer peer(String accessKey, String secretKey) {
        return gateway.closing(
                new TestPeer(gateway.client(accessKey, secretKey), secretKey, BUFFER));
    }

    private Answer put(String key, byte[] block, Map<String, String> headers) {
        peer.set(0, block);
        return peer.ask(Request.put(0, "kv-a", key, peer.key(), 0, block.length, headers));
    }

    private void hold(String... keys) {
        for (String key : keys) {
            assertThat(put(key, key.getBytes(), Map.of()).status()).as(key).isEqualTo(200);
        }
    }

    private static Request ask(RequestOperation operation, String prefix, String... keys) {
        return Request.ofKeys(0, operation, "kv-a", prefix, KeyBlock.ofTexts(List.of(keys)));
    }

    private static List<Boolean> marks(Answer answer, int count) {
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        BitSet bits = HeldKeys.parse(answer.headers().getOrDefault(HeldKeys.HEADER, ""));
        assertThat(answer.objectSize()).isEqualTo(bits.cardinality());
        List<Boolean> marks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            marks.add(bits.get(i));
        }
        return marks;
    }

    private List<Boolean> exists(TestPeer who, String prefix, String... keys) {
        return marks(who.ask(ask(RequestOperation.EXISTS, prefix, keys)), keys.length);
    }

    private static List<Request> hashes(RequestOperation operation, byte[] hashes) {
        List<Request> requests = new ArrayList<>();
        int step = HASHES_OF_A_MESSAGE * HASH;
        for (int at = 0; at < hashes.length; at += step) {
            requests.add(Request.ofKeys(0, operation, "kv-a", "m@",
                    KeyBlock.ofHashes(HASH,
                            Arrays.copyOfRange(hashes, at, Math.min(hashes.length, at + step)))));
        }
        return requests;
    }

    @Test
    void hundredsOfBlocksArePutFoundReadAndDeleted() {
        int count = 512;
        byte[] hashes = random(count * HASH);
        byte[] blocks = random(count * BLOCK);
        peer.set(0, blocks);
        List<Request> puts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            puts.add(Request.put(0, "kv-a", key(hashes, i), peer.key(), (long) i * BLOCK, BLOCK,
                    ONCE));
        }
        assertThat(peer.askAll(puts)).allMatch(Answer::isSuccess);
        assertThat(total(peer.askAll(hashes(RequestOperation.EXISTS, hashes)))).isEqualTo(count);
        assertThat(total(peer.askAll(hashes(RequestOperation.PREFIX, hashes)))).isEqualTo(count);

        peer.fill(0);
        List<Request> gets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            gets.add(Request.get(0, "kv-a", key(hashes, i), peer.key(), (long) i * BLOCK, BLOCK));
        }
        assertThat(peer.askAll(gets)).allMatch(Answer::isSuccess);
        assertThat(peer.bytes(0, blocks.length)).isEqualTo(blocks);

        assertThat(total(peer.askAll(hashes(RequestOperation.DELETE, hashes)))).isEqualTo(count);
        assertThat(total(peer.askAll(hashes(RequestOperation.EXISTS, hashes)))).isZero();
        assertThat(peer.ask(gets.getFirst()).status()).isEqualTo(404);
        assertThat(gateway.metric("railhead_channel_requests_total{operation=\"exists\","
                + "outcome=\"described\",}")).isEqualTo(10);
        assertThat(gateway.metric("railhead_channel_requests_total{operation=\"delete\","
                + "outcome=\"removed\",}")).isEqualTo(5);
    }

    private static String key(byte[] hashes, int at) {
        return "m@" + HexFormat.of().formatHex(hashes, at * HASH, (at + 1) * HASH);
    }

    private static long total(List<Answer> answers) {
        assertThat(answers).allMatch(Answer::isSuccess);
        return answers.stream().mapToLong(Answer::objectSize).sum();
    }

    @Test
    void aPrefixEndsAtTheFirstKeyThatIsNotHeld() {
        hold("p/a", "p/b", "p/d");
        assertThat(exists(peer, "p/", "d", "c", "b", "a", "a"))
                .containsExactly(true, false, true, true, true);
        Answer answer = peer.ask(ask(RequestOperation.PREFIX, "p/", "a", "b", "c", "d"));
        assertThat(answer.objectSize()).isEqualTo(2);
        assertThat(answer.headers()).isEmpty();
        assertThat(peer.ask(ask(RequestOperation.PREFIX, "p/", "c", "a")).objectSize()).isZero();
    }

    @Test
    void aBlockIsWrittenOnce() {
        byte[] block = random(BLOCK);
        byte[] other = block.clone();
        other[BLOCK - 1]++;
        assertThat(put("k", block, ONCE).status()).isEqualTo(200);
        assertThat(put("k", other, ONCE).status()).isEqualTo(412);
        assertThat(put("k", block, Map.of()).status()).isEqualTo(200);
        assertThat(put("k", other, Map.of()).status()).isEqualTo(409);
        peer.fill(0);
        Answer answer = peer.ask(Request.get(0, "kv-a", "k", peer.key(), 0, BUFFER));
        assertThat(answer.bytesMoved()).isEqualTo(BLOCK);
        assertThat(peer.bytes(0, BLOCK)).isEqualTo(block);
        assertThat(peer.ask(ask(RequestOperation.DELETE, "", "k", "never")).objectSize())
                .isEqualTo(2);
        assertThat(put("k", other, ONCE).status()).isEqualTo(200);
    }

    @Test
    void objectsUnderAPrefixAreRemovedSomeAtATime() {
        for (int i = 0; i < 300; i++) {
            hold("p/" + i);
        }
        hold("q", "p");
        Request clear = Request.ofKeys(0, RequestOperation.DELETE_PREFIX, "kv-a", "p/",
                KeyBlock.NONE);
        assertThat(peer.ask(clear).objectSize()).isEqualTo(256);
        assertThat(peer.ask(clear).objectSize()).isEqualTo(44);
        assertThat(peer.ask(clear).objectSize()).isZero();
        assertThat(exists(peer, "", "p", "q", "p/1")).containsExactly(true, true, false);
    }

    @Test
    void whatTheCallerMayNotReadIsNotHeldForIt() {
        hold("open/k", "k");
        assertThat(exists(peer("READER", "reader-secret"), "", "open/k", "k"))
                .containsExactly(true, false);
        assertThat(exists(peer("OTHER", "other-secret"), "", "open/k", "k"))
                .containsExactly(false, false);
    }

    @Test
    void whatTheCallerMayNotDeleteStays() {
        hold("open/k");
        TestPeer reader = peer("READER", "reader-secret");
        assertThat(marks(reader.ask(ask(RequestOperation.DELETE, "", "open/k")), 1))
                .containsExactly(false);
        assertThat(reader.ask(Request.ofKeys(0, RequestOperation.DELETE_PREFIX, "kv-a", "",
                KeyBlock.NONE)).objectSize()).isZero();
        TestPeer stranger = peer("OTHER", "other-secret");
        assertThat(stranger.ask(ask(RequestOperation.DELETE, "", "open/k")).status())
                .isEqualTo(200);
        assertThat(exists(peer, "", "open/k")).containsExactly(true);
    }

    private static Request lease(int millis, String... keys) {
        return Request.lease(0, "kv-a", "", KeyBlock.ofTexts(List.of(keys)), millis);
    }

    @Test
    void leasedObjectsStayWhileOthersAreEvicted() {
        hold("open/leased", "leased", "not");
        assertThat(marks(peer.ask(lease(600_000, "leased", "never", "open/leased")), 3))
                .containsExactly(true, false, true);
        assertThat(marks(peer("OTHER", "other-secret").ask(lease(600_000, "leased")), 1))
                .containsExactly(false);
        assertThat(marks(peer("READER", "reader-secret").ask(lease(1000, "open/leased", "leased")),
                2)).containsExactly(true, false);
        byte[] large = random(BUFFER);
        for (int i = 0; i < 20; i++) {
            assertThat(put("large" + i, large, ONCE).status()).isEqualTo(200);
        }
        assertThat(exists(peer, "", "leased", "open/leased", "not", "large19"))
                .containsExactly(true, true, false, true);
        assertThat(gateway.metric("railhead_cache_only_leases_total{outcome=\"granted\",}"))
                .isEqualTo(3);
        assertThat(gateway.metric("railhead_cache_only_leased_bytes")).isEqualTo(8192);
    }

    @Test
    void aTenantCannotLeaseAllOfItsRoom() {
        // The cache serves with its first part of memory, of which a tenant may lease less.
        TestGateway.await(() -> gateway.memory().capacityBytes() == 128L << 20);
        byte[] large = random(BUFFER);
        List<Boolean> leased = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            assertThat(put("large" + i, large, ONCE).status()).isEqualTo(200);
            leased.addAll(marks(peer.ask(lease(600_000, "large" + i)), 1));
        }
        assertThat(leased).startsWith(true, true, true).endsWith(false, false, false);
        int refused = (int) leased.stream().filter(granted -> !granted).count();
        assertThat(gateway.metric("railhead_cache_only_leases_total{outcome=\"refused\",}"))
                .isEqualTo(refused);
        for (int i = 12; i < 40; i++) {
            assertThat(put("large" + i, large, ONCE).status()).isEqualTo(200);
        }
        assertThat(exists(peer, "", "large0", "large1", "large2", "large11", "large39"))
                .containsExactly(true, true, true, false, true);
    }

    @Test
    void aLeaseBeyondTheLimitIsRefused() {
        hold("k");
        Answer answer = peer.ask(lease(600_001, "k"));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.code()).isEqualTo("InvalidArgument");
        assertThat(answer.message()).contains("600000", "600001");
    }

    @Test
    void aTouchedObjectOutlivesOthers() {
        hold("open/used", "unused");
        byte[] large = random(BUFFER);
        for (int i = 0; i < 20; i++) {
            assertThat(put("large" + i, large, ONCE).status()).isEqualTo(200);
            assertThat(marks(peer.ask(ask(RequestOperation.TOUCH, "", "open/used", "never")), 2))
                    .containsExactly(true, false);
        }
        assertThat(exists(peer, "", "open/used", "unused")).containsExactly(true, false);
        assertThat(marks(peer("READER", "reader-secret")
                .ask(ask(RequestOperation.TOUCH, "", "open/used", "large19")), 2))
                .containsExactly(true, false);
    }

    @Test
    void usageIsOfWhatTheCallerMayReadBelowThePrefix() {
        hold("open/a", "open/b", "other");
        assertThat(put("open/large", random(BUFFER), ONCE).status()).isEqualTo(200);
        assertThat(marks(peer.ask(lease(600_000, "open/a", "other")), 2))
                .containsExactly(true, true);
        KeyUsage open = usage(peer, "open/");
        assertThat(open.objects()).isEqualTo(3);
        assertThat(open.bytes()).isEqualTo(BUFFER + 8192);
        assertThat(open.leasedBytes()).isEqualTo(4096);
        assertThat(open.limitBytes()).isBetween(64L << 20, 128L << 20);
        KeyUsage all = usage(peer, "");
        assertThat(all.objects()).isEqualTo(4);
        assertThat(all.leasedBytes()).isEqualTo(8192);
        assertThat(usage(peer("READER", "reader-secret"), "")).isEqualTo(open);
        assertThat(usage(peer("OTHER", "other-secret"), ""))
                .isEqualTo(new KeyUsage(0, 0, 0, open.limitBytes()));
        assertThat(usage(peer, "none").objects()).isZero();
    }

    private static KeyUsage usage(TestPeer who, String prefix) {
        Answer answer = who.ask(Request.ofKeys(0, RequestOperation.USAGE, "kv-a", prefix,
                KeyBlock.NONE));
        assertThat(answer.status()).as("%s", answer).isEqualTo(200);
        return KeyUsage.of(answer);
    }

    @Test
    void aBucketOfAStoreHasNoSuchRequests() {
        store.put("/b/object", random(10));
        Answer answer = peer.ask(Request.ofKeys(0, RequestOperation.EXISTS, "b", "",
                KeyBlock.ofTexts(List.of("object"))));
        assertThat(answer.status()).isZero();
        assertThat(answer.code()).isEqualTo("unsupported");
    }

    @Test
    void keysThatAreNoneAreAnErrorOfTheRequestAlone() {
        assertRefused(KeyBlock.ofHashes(1, new byte[1025]), "InvalidArgument", "1025");
        assertRefused(KeyBlock.ofHashes(65, new byte[65]), "InvalidArgument", "65");
        assertRefused(KeyBlock.ofHashes(8, new byte[0]), "InvalidArgument", "count");
        assertRefused(KeyBlock.ofTexts(List.of("a", "")), "InvalidArgument", "empty");
        assertRefused(KeyBlock.ofTexts(List.of("k".repeat(1025))), "KeyTooLongError", "");
        hold("k");
        assertThat(exists(peer, "", "k")).containsExactly(true);
        assertThat(gateway.metric("railhead_channel_requests_total{operation=\"exists\","
                + "outcome=\"failed\",}")).isEqualTo(5);
    }

    private void assertRefused(KeyBlock keys, String code, String words) {
        Answer answer = peer.ask(
                Request.ofKeys(0, RequestOperation.EXISTS, "kv-a", "", keys));
        assertThat(answer.status()).as("%s", answer).isEqualTo(400);
        assertThat(answer.code()).isEqualTo(code);
        assertThat(answer.message()).contains(words);
        assertThat(answer.headers()).containsKey(Answer.REQUEST_ID);
    }

    /** Compares with a map what a seeded sequence of requests is answered. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void anySequenceOfRequestsIsAnsweredAsByAMap(long seed) {
        Random random = new Random(seed);
        Map<String, byte[]> model = new TreeMap<>();
        for (int step = 0; step < 400; step++) {
            String key = "p" + random.nextInt(2) + "/" + random.nextInt(12);
            String about = "seed " + seed + ", step " + step + ", " + key;
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    byte[] block = new byte[1 + random.nextInt(3 * BLOCK)];
                    random.nextBytes(block);
                    assertThat(put(key, block, ONCE).status()).as(about)
                            .isEqualTo(model.containsKey(key) ? 412 : 200);
                    model.putIfAbsent(key, block);
                }
                case 2 -> assertReads(key, model.get(key), about);
                case 3 -> assertHolds(model, about);
                case 4 -> {
                    assertThat(peer.ask(ask(RequestOperation.DELETE, "", key)).objectSize())
                            .as(about)
                            .isEqualTo(1);
                    model.remove(key);
                }
                default -> {
                    if (random.nextInt(8) == 0) {
                        clear(key.substring(0, 3), model, about);
                    }
                }
            }
        }
        assertHolds(model, "seed " + seed);
    }

    private void assertReads(String key, byte @Nullable [] block, String about) {
        Answer answer = peer.ask(Request.get(0, "kv-a", key, peer.key(), 0, BUFFER));
        assertThat(answer.status()).as(about).isEqualTo(block == null ? 404 : 200);
        if (block != null) {
            assertThat(peer.bytes(0, (int) answer.bytesMoved())).as(about).isEqualTo(block);
        }
    }

    private void assertHolds(Map<String, byte[]> model, String about) {
        String[] keys = new String[24];
        List<Boolean> expected = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % 2 + "/" + i / 2;
            expected.add(model.containsKey("p" + keys[i]));
        }
        assertThat(exists(peer, "p", keys)).as(about).isEqualTo(expected);
        int leading = expected.indexOf(false);
        assertThat(peer.ask(ask(RequestOperation.PREFIX, "p", keys)).objectSize()).as(about)
                .isEqualTo(leading < 0 ? keys.length : leading);
    }

    private void clear(String prefix, Map<String, byte[]> model, String about) {
        long held = model.keySet().stream().filter(key -> key.startsWith(prefix)).count();
        assertThat(peer.ask(Request.ofKeys(0, RequestOperation.DELETE_PREFIX, "kv-a", prefix,
                KeyBlock.NONE)).objectSize()).as(about).isEqualTo(held);
        model.keySet().removeIf(key -> key.startsWith(prefix));
    }
}
