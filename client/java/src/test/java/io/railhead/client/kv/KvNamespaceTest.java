package io.railhead.client.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.BlockChannel;
import io.railhead.client.ClientConfig;
import io.railhead.client.NotAvailableException;
import io.railhead.client.OutcomeUnknownException;
import io.railhead.client.RailheadClient;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.S3Exception;
import io.railhead.client.UnboundRequest;
import io.railhead.client.Via;
import io.railhead.client.Window;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.HeldKeys;
import io.railhead.protocol.channel.RemovedKeys;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;

/** A namespace whose channel answers as each test says. */
class KvNamespaceTest {
    private final List<UnboundRequest> sent = new ArrayList<>();
    private Function<Request, Answer> gateway = request -> Answer.ofKeys(0, 0, Map.of());
    private final KvNamespace blocks = KvNamespace.of(new BlockChannel() {
        @Override
        public List<CompletableFuture<Answer>> send(List<UnboundRequest> requests) {
            sent.addAll(requests);
            return requests.stream()
                    .map(request -> CompletableFuture
                            .completedFuture(gateway.apply(request.request())))
                    .toList();
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(20);
        }

        @Override
        public List<Answer> ask(List<UnboundRequest> requests) {
            return send(requests).stream().map(CompletableFuture::join).toList();
        }
    }, "s3://kv-a/m/");
    /** Memory alone: it opens no session. */
    private final RailheadClient client = client(Via.LOOPBACK);
    private final RegisteredBuffer arena = client.register(8192);

    private static RailheadClient client(Via via) {
        return RailheadClient.connect(ClientConfig.of(URI.create("http://127.0.0.1:1"),
                "us-east-1", AnonymousCredentialsProvider.create()).with(via));
    }

    @AfterEach
    void close() {
        arena.close();
        client.close();
    }

    private Block block(String key) {
        return Block.of(key, new Window(arena, 0, 4096), new Window(arena, 4096, 100));
    }

    private static Answer bits(String digits) {
        return Answer.ofKeys(0, 0, Map.of(HeldKeys.HEADER, digits));
    }

    private static Answer read(long moved, long size) {
        return Answer.delivered(0, 200, moved, size, 0, 0, "\"e\"", "", AnswerOrigin.HIT);
    }

    private static <T> T end(List<CompletionStage<T>> ends) throws IOException {
        try {
            return ends.getFirst().toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw e;
        }
    }

    @Test
    void eachKeyHasItsBitAcrossRequests() throws IOException {
        List<String> keys = IntStream.range(0, 3000)
                .mapToObj("x%04d"::formatted)
                .map(key -> key + "!")
                .toList();
        gateway = request -> {
            int bytes = (request.keys().count() + 7) / 8;
            return bits("01" + "00".repeat(bytes - 1));
        };
        assertThat(blocks.exists(keys).stream().toArray())
                .isEqualTo(firsts(sent));
        assertThat(sent).hasSizeGreaterThan(2)
                .allMatch(request -> request.windows().isEmpty()
                        && request.request().key().startsWith("m/x"));
    }

    private static int[] firsts(List<UnboundRequest> requests) {
        int[] firsts = new int[requests.size()];
        for (int i = 1; i < firsts.length; i++) {
            firsts[i] = firsts[i - 1] + requests.get(i - 1).request().keys().count();
        }
        return firsts;
    }

    @Test
    void aPrefixEndsInTheFirstRequestThatIsNotWhole() throws IOException {
        List<String> keys = IntStream.range(0, 3000).mapToObj(i -> "key!" + i).toList();
        gateway = request -> Answer.ofKeys(0, sent.size() > 0
                && request.equals(sent.get(1).request()) ? 5 : request.keys().count(), Map.of());
        assertThat(blocks.prefix(keys))
                .isEqualTo(sent.getFirst().request().keys().count() + 5);
        gateway = request -> Answer.ofKeys(0, 2, Map.of());
        assertThatThrownBy(() -> blocks.prefix(List.of("k"))).isInstanceOf(IOException.class)
                .hasMessage("2 keys lead of 1");
    }

    @Test
    void noKeysAskNothing() throws IOException {
        assertThat(blocks.exists(List.of()).isEmpty()).isTrue();
        assertThat(blocks.prefix(List.of())).isZero();
        assertThat(sent).isEmpty();
    }

    @Test
    void aRefusalIsTheStoresException() {
        gateway = request -> Answer.failed(0, 400, "KeyTooLongError", "too long");
        assertS3(() -> blocks.exists(List.of("k")), 400);
        assertS3(() -> blocks.prefix(List.of("k")), 400);
        assertS3(() -> blocks.touch(List.of("k")), 400);
        assertS3(() -> blocks.delete(List.of("k")), 400);
        assertS3(() -> blocks.lease(List.of("k"), Duration.ofSeconds(1)), 400);
        assertS3(blocks::clear, 400);
        assertS3(blocks::usage, 400);
        assertS3(() -> blocks.removals(Duration.ofSeconds(1)), 400);
        assertS3(() -> end(blocks.get(List.of(block("k")))), 400);
        assertS3(() -> end(blocks.put(List.of(block("k")))), 400);
        assertS3(() -> end(blocks.putIfAbsent(List.of(block("k")))), 400);
    }

    private static void assertS3(ThrowingCallable call, int status) {
        assertThatThrownBy(call).isInstanceOfSatisfying(S3Exception.class,
                e -> assertThat(e.status()).isEqualTo(status));
    }

    @Test
    void aBucketOfAStoreIsNotServed() {
        gateway = request -> Answer.declined(0, "unsupported");
        assertThatThrownBy(() -> blocks.exists(List.of("k")))
                .isInstanceOf(NotAvailableException.class)
                .hasMessageContaining("the gateway does not serve this: unsupported");
        assertThatThrownBy(() -> end(blocks.get(List.of(block("k")))))
                .isInstanceOf(NotAvailableException.class);
    }

    @Test
    void bitsThatAreNoneOfTheKeysAreAnError() {
        for (String digits : List.of("", "0", "xx", "0100", "10")) {
            gateway = request -> bits(digits);
            assertThatThrownBy(() -> blocks.exists(List.of("a", "b!"))).as(digits)
                    .isInstanceOf(IOException.class)
                    .hasMessage("no bits for 2 keys: '" + digits + "'");
        }
    }

    @Test
    void aReadIsAHitOnlyIfItFillsItsWindowsExactly() throws IOException {
        gateway = request -> read(4196, 4196);
        assertThat(end(blocks.get(List.of(block("k"))))).isTrue();
        gateway = request -> read(4195, 4195);
        assertThat(end(blocks.get(List.of(block("k"))))).isFalse();
        gateway = request -> read(4196, 4197);
        assertThat(end(blocks.get(List.of(block("k"))))).isFalse();
        gateway = request -> Answer.failed(0, 404, "NoSuchKey", "");
        assertThat(end(blocks.get(List.of(block("k"))))).isFalse();
        gateway = request -> read(5000, 5000);
        assertThatThrownBy(() -> end(blocks.get(List.of(block("k")))))
                .hasMessage("asked for 4196 bytes, got 5000");
    }

    @Test
    void aTakenKeyExistsForAConditionalPutAndIsARefusalOfAnother() throws IOException {
        gateway = request -> Answer.stored(0, request.window(), "\"e\"", "", Map.of());
        assertThat(end(blocks.putIfAbsent(List.of(block("k"))))).isEqualTo(Written.STORED);
        assertThat(sent.getLast().request().headers()).containsEntry("if-none-match", "*");
        assertThat(end(blocks.put(List.of(block("k"))))).isEqualTo(Written.STORED);
        assertThat(sent.getLast().request().headers()).isEmpty();
        gateway = request -> Answer.failed(0, 412, "PreconditionFailed", "");
        assertThat(end(blocks.putIfAbsent(List.of(block("k"))))).isEqualTo(Written.EXISTS);
        gateway = request -> Answer.failed(0, 409, "ObjectAlreadyExists", "");
        assertThat(end(blocks.putIfAbsent(List.of(block("k"))))).isEqualTo(Written.EXISTS);
        assertS3(() -> end(blocks.put(List.of(block("k")))), 409);
    }

    @Test
    void aPutThatMayHaveBeenStoredSaysSo() {
        gateway = request -> Answer.failed(0, 503, "SlowDown", "full");
        assertS3(() -> end(blocks.put(List.of(block("k")))), 503);
        gateway = request -> Answer.failed(0, 500, "InternalError", "");
        assertThatThrownBy(() -> end(blocks.put(List.of(block("k")))))
                .isInstanceOf(OutcomeUnknownException.class);
        gateway = request -> Answer.stored(0, 7, "\"e\"", "", Map.of());
        assertThatThrownBy(() -> end(blocks.put(List.of(block("k")))))
                .hasMessage("the gateway answered a put of 4196 bytes with 7");
    }

    @Test
    void allIsClearOnceNothingIsRemovedAnyMore() throws IOException {
        gateway = request -> Answer.ofKeys(0, sent.size() > 2 ? 0 : 256, Map.of());
        assertThat(blocks.clear()).isEqualTo(512);
        assertThat(sent).hasSize(3)
                .allMatch(request -> request.request()
                        .operation() == RequestOperation.DELETE_PREFIX);
    }

    @Test
    void aWaitForRemovalsIsShorterThanTheTimeout() throws IOException {
        RemovedKeys told = new RemovedKeys(true,
                List.of(new RemovedKeys.Removed("k", RemovedKeys.Reason.EVICTED)));
        gateway = request -> told.answer(0);
        assertThat(blocks.removals(Duration.ofHours(1))).isEqualTo(told);
        assertThat(sent.getLast().request().partNumber()).isEqualTo(10_000);
        assertThat(blocks.removals(Duration.ofMillis(5))).isEqualTo(told);
        assertThat(sent.getLast().request().partNumber()).isEqualTo(5);
        gateway = request -> Answer.ofKeys(0, 3, Map.of());
        assertThatThrownBy(() -> blocks.removals(Duration.ofMillis(5)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the gateway's removed keys make no sense");
    }

    @Test
    void usageWithoutNumbersIsAnError() {
        gateway = request -> Answer.ofKeys(0, 1, Map.of("x-railhead-bytes", "many"));
        assertThatThrownBy(blocks::usage).isInstanceOf(IOException.class)
                .hasMessage("the gateway's usage is no number");
    }

    @Test
    void argumentsThatHaveNoMeaningAreRefusedAtOnce() {
        assertRefused(() -> blocks.lease(List.of("k"), Duration.ZERO), "time must be");
        assertRefused(() -> blocks.lease(List.of("k"), Duration.ofMinutes(11)), "time must be");
        assertRefused(() -> blocks.removals(Duration.ZERO), "most must be at least 1 ms");
        assertRefused(() -> blocks.exists(List.of("")), "key must not be empty");
        assertRefused(() -> Block.of("", new Window(arena, 0, 1)), "key must not be empty");
        assertRefused(() -> Block.of("k"), "windows must be 1 to 64: 0");
        assertRefused(() -> client.kv("kv-a/m"), "not s3://bucket/prefix");
        assertRefused(() -> client.kv("s3:///m"), "not s3://bucket/prefix");
        assertThat(sent).isEmpty();
    }

    private static void assertRefused(ThrowingCallable call, String words) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(words);
    }

    @Test
    void aClientWithoutAChannelHasNoBlocks() {
        try (RailheadClient overHttp = client(Via.HTTP)) {
            assertThatThrownBy(() -> overHttp.kv("s3://kv-a/"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("blocks go via loopback or verbs alone");
        }
    }
}
