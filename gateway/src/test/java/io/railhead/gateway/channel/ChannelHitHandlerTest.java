package io.railhead.gateway.channel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.freshness.Servability;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.PlacedStore;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.tracing.Tracing;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestCodec;
import io.railhead.protocol.channel.RequestRange;
import io.railhead.protocol.channel.RequestView;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.PeerSession;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The hit path by itself: what it serves, what it leaves to others, and what it allocates. */
class ChannelHitHandlerTest {
    private static final int PAGE = 64 << 10;
    private static final int SIZE = 2 * PAGE + 100;
    private static final long BOUND_NANOS = Duration.ofMinutes(1).toNanos();
    private static final Principal PRINCIPAL = new Principal("trainer", "default",
            List.of(new AccessKey("AK", new Secret("SK"), null)), null, Set.of(), true, true,
            false);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    @TempDir
    private Path folder;

    private final ByteBuffer message = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    private final RequestView view = new RequestView();
    private final Delivered channel = new Delivered();
    private final RemoteBuffer window = new RemoteBuffer(new NoSession(), 0, 1 << 20, 7);
    private ObjectCache cache;
    private AuthorizationCache authorizationCache;
    private Routes routes;
    private final Metrics metrics = new Metrics();
    private ChannelHitHandler channelHitHandler;
    private final LongAdder chargedBytes = new LongAdder();
    private long nowNanos;

    @BeforeEach
    void hold() throws Exception {
        PageMemory memory = leaks
                .watch(PageMemory.open(new MemoryConfig(64L << 20, PAGE, 0.05, false), _ -> {}));
        cache = leaks.closing(new ObjectCache(memory, CacheConfig.DEFAULT, () -> nowNanos));
        authorizationCache = new AuthorizationCache(() -> nowNanos, cache, metrics);
        routes = new Routes(new Routes.Table(config().rules(),
                Map.of("store", new PlacedStore(new NoBackend(), ""))), metrics.usage);
        channelHitHandler = new ChannelHitHandler(
                new Servability(cache, authorizationCache, () -> nowNanos), 1 << 20,
                new ChannelCounts(metrics, "test"),
                new ChannelLog(new ChannelLogs(AccessLog.off(metrics.lostLogLines), Audit.OFF,
                        new Tracing("", metrics.spans)), new NoSession(),
                        RequestSource.anonymous(null, false)),
                chargedBytes::add);
    }

    private GatewayConfig config() throws Exception {
        Files.createFile(folder.resolve("credentials.yaml"));
        return ConfigLoader.load(Files.writeString(folder.resolve("railhead.yaml"), """
                gateway:
                  credentials: credentials.yaml
                backends:
                  store:
                    endpoints: [http://127.0.0.1:1]
                rules:
                  - bucket: fixed
                    freshness: immutable
                  - bucket: bounded
                    freshness: {bounded: 1m}
                  - bucket: verified
                    freshness: immutable
                    verify_fills: true
                """));
    }

    private CachedRoute known(String bucket, String key) throws Exception {
        wrap(Request.get(1, bucket, key, 7, 0, 1 << 20));
        return new CachedRoute(view.name(), new Identity(PRINCIPAL, PRINCIPAL.keys().getFirst()),
                RequestSource.of(PRINCIPAL.name(), "default", null, false), routes);
    }

    private CachedRoute held(String bucket, int size) throws Exception {
        CachedRoute known = known(bucket, "key");
        ObjectId id = known.id();
        ObjectMetadata metadata = new ObjectMetadata(
                new ObjectVersion(id, "\"etag\"", "", size),
                Map.of("last-modified", "Fri, 20 Nov 2026 00:00:00 GMT"), nowNanos,
                cache.writes().epoch(id));
        cache.discover(id, "", flight -> {
            var sink = flight.found(metadata, 0, size);
            if (sink != null) {
                sink.write(ByteBuffer.allocate(size));
                sink.complete();
            }
        });
        authorizationCache.grant(known.grant(), nowNanos, cache.writes().epoch(known.id()));
        return known;
    }

    private void wrap(Request request) throws Exception {
        message.clear();
        assertThat(RequestCodec.tryEncode(request, message)).isTrue();
        message.flip();
        view.wrap(message, 0, message.limit());
    }

    private boolean serve(CachedRoute known, RequestRange range) throws Exception {
        wrap(Request.get(9, "fixed", "key", 7, 0, 1 << 20).withRange(range));
        return channelHitHandler.tryServe(view, known, window, channel);
    }

    @Test
    void aHeldObjectIsDeliveredWithAllThatIsKnownOfIt() throws Exception {
        assertThat(serve(held("fixed", SIZE), RequestRange.ALL)).isTrue();
        assertThat(channel.answer).isEqualTo(Answer.delivered(9, 200, SIZE, SIZE, 0,
                1_795_132_800_000L, "\"etag\"", "", AnswerOrigin.HIT));
        assertThat(channel.slices).containsExactly("0+65536", "65536+65536", "131072+100");
    }

    @Test
    void aRangeIsCutOutOfThePages() throws Exception {
        CachedRoute known = held("fixed", SIZE);
        assertThat(serve(known, new RequestRange.Between(PAGE - 3, PAGE + 1))).isTrue();
        assertThat(channel.slices).containsExactly("65533+3", "65536+2");
        assertThat(channel.answered().status()).isEqualTo(206);
        assertThat(channel.answered().firstByte()).isEqualTo(PAGE - 3);
        assertThat(serve(known, new RequestRange.Last(101))).isTrue();
        assertThat(channel.slices).containsExactly("131071+1", "131072+100");
        assertThat(serve(known, new RequestRange.From(SIZE - 1))).isTrue();
        assertThat(channel.slices).containsExactly("131171+1");
        assertThat(serve(known, new RequestRange.Between(0, Long.MAX_VALUE))).isTrue();
        assertThat(channel.answered().bytesMoved()).isEqualTo(SIZE);
        assertThat(serve(known, new RequestRange.Last(Long.MAX_VALUE))).isTrue();
        assertThat(channel.answered().bytesMoved()).isEqualTo(SIZE);
    }

    @Test
    void whatIsNoPlainHitIsLeftToOthers() throws Exception {
        CachedRoute known = held("fixed", SIZE);
        assertThat(serve(known, new RequestRange.From(SIZE))).isFalse();
        assertThat(serve(known, new RequestRange.Last(0))).isFalse();
        assertThat(serve(known("fixed", "another"), RequestRange.ALL)).isFalse();
        assertThat(serve(held("strong", SIZE), RequestRange.ALL)).isFalse();
        authorizationCache.revoke(known.grant());
        assertThat(serve(known, RequestRange.ALL)).isFalse();
        assertThat(channel.answer).isNull();
    }

    @Test
    void aBoundedHitEndsWithItsBound() throws Exception {
        CachedRoute known = held("bounded", SIZE);
        nowNanos += 1;
        assertThat(serve(known, RequestRange.ALL)).isTrue();
        nowNanos += BOUND_NANOS;
        authorizationCache.grant(known.grant(), nowNanos, cache.writes().epoch(known.id()));
        assertThat(serve(known, RequestRange.ALL)).isFalse();
    }

    @Test
    void aRuleThatVerifiesServesNothingOfWhichTheChecksumsAreUnknown() throws Exception {
        assertThat(serve(held("verified", SIZE), RequestRange.ALL)).isFalse();
    }

    @Test
    void aKeyThatIsBeingWrittenIsAskedFor() throws Exception {
        CachedRoute known = held("fixed", SIZE);
        Writes.Write write = cache.writes().begin(known.id());
        assertThat(serve(known, RequestRange.ALL)).isFalse();
        write.end(WriteOutcome.REFUSED);
    }

    @Test
    void aMissingPageLeavesNoneLeased() throws Exception {
        CachedRoute known = known("fixed", "key");
        ObjectMetadata metadata = new ObjectMetadata(
                new ObjectVersion(known.id(), "\"etag\"", "", SIZE), Map.of(), nowNanos,
                cache.writes().epoch(known.id()));
        cache.discover(known.id(), "", flight -> {
            var sink = flight.found(metadata, 0, PAGE);
            if (sink != null) {
                sink.write(ByteBuffer.allocate(PAGE));
                sink.complete();
            }
        });
        authorizationCache.grant(known.grant(), nowNanos, cache.writes().epoch(known.id()));
        assertThat(serve(known, RequestRange.ALL)).isFalse();
        assertThat(serve(known, new RequestRange.Between(0, PAGE - 1))).isTrue();
    }

    @Test
    void aHitAllocatesLittle() throws Exception {
        CachedRoute known = held("fixed", 4096);
        wrap(Request.get(9, "fixed", "key", 7, 0, 4096));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = 20_000;
        serveOften(known, rounds);
        long before = threads.getCurrentThreadAllocatedBytes();
        serveOften(known, rounds);
        long perHit = (threads.getCurrentThreadAllocatedBytes() - before) / rounds;
        System.out.println("bytes allocated per hit: " + perHit);
        assertThat(perHit).isLessThanOrEqualTo(400);
    }

    private void serveOften(CachedRoute known, int rounds) {
        channel.quiet = true;
        for (int i = 0; i < rounds; i++) {
            if (!channelHitHandler.tryServe(view, known, window, channel)) {
                throw new AssertionError("a hit was not served");
            }
        }
    }

    /** Takes what is delivered, and closes it. */
    private static final class Delivered implements RequestChannel {
        private final List<String> slices = new ArrayList<>();
        private boolean quiet;
        private @Nullable Answer answer;

        Answer answered() {
            return Objects.requireNonNull(answer);
        }

        @Override
        public PeerSession session() {
            throw new IllegalStateException("the hit path names its window by itself");
        }

        @Override
        public Executor executor() {
            return Runnable::run;
        }

        @Override
        public void answer(Answer given) {
            throw new IllegalStateException("a hit is delivered: " + given);
        }

        @Override
        public void deliver(RemoteBuffer to, @Nullable PageSlice[] ownedSlices, int count,
                Answer given) {
            answer = given;
            slices.clear();
            for (int i = 0; i < count; i++) {
                PageSlice slice = Objects.requireNonNull(ownedSlices[i]);
                if (!quiet) {
                    slices.add(slice.objectOffset() + "+" + slice.length());
                }
                slice.close();
            }
        }
    }

    private record NoSession() implements ClientSession {

        @Override
        public int number() {
            return 1;
        }

        @Override
        public String id() {
            return "";
        }

        @Override
        public String principal() {
            return "trainer";
        }

        @Override
        public String fabric() {
            return "test";
        }

        @Override
        public boolean isOpen() {
            return true;
        }
    }
}
