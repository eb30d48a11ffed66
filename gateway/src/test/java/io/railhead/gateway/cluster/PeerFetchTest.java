package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.FetchTurn;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.EvictionCause;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.RangeReader;
import io.railhead.cache.ReadRequest;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.cluster.ClusterConfig;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever an owner answers, the bytes are right: the store gives what the owner does not. */
class PeerFetchTest {
    private static final int PAGE = 64 << 10;
    private static final byte[] OBJECT = random(7, 3 * PAGE + 1001);
    private static final ObjectVersion VERSION = new ObjectVersion(
            new ObjectId("store", "", "bucket", "key", null), "\"e\"", "", OBJECT.length);

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final PageMemory memory = leaks
            .watch(PageMemory.open(new MemoryConfig(64L << 20, PAGE, 0.1, false), _ -> {}));
    private final ObjectCache cache = leaks
            .closing(new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime));
    private final Vertx vertx = Vertx.vertx();
    private HttpClientAgent client = vertx.createHttpClient();
    private final List<PeerFetch.Result> results = new CopyOnWriteArrayList<>();
    /** Longer than any machine needs. */
    private long headMillis = 20_000;
    private PeerFetch.Asked who = PeerFetch.Asked.OWNER;
    private volatile boolean isThere = true;
    private final List<Long> storeFrom = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() throws Exception {
        vertx.close().await(20, TimeUnit.SECONDS);
    }

    private static Buffer page(int index, int crcError) {
        int length = Math.min(PAGE, OBJECT.length - index * PAGE);
        CRC32C crc = new CRC32C();
        crc.update(OBJECT, index * PAGE, length);
        return Buffer.buffer()
                .appendInt(length)
                .appendInt((int) crc.getValue() + crcError)
                .appendBytes(OBJECT, index * PAGE, length);
    }

    private static Buffer pages(int count) {
        Buffer pages = Buffer.buffer();
        for (int i = 0; i < count; i++) {
            pages.appendBuffer(page(i, 0));
        }
        return pages;
    }

    /** Reads the object through a cache whose owner answers so. */
    private byte[] read(Consumer<HttpServerRequest> owner) throws Exception {
        HttpServer server = vertx.createHttpServer()
                .requestHandler(request -> request.body().onSuccess(_ -> owner.accept(request)))
                .listen(0, "127.0.0.1")
                .await(20, TimeUnit.SECONDS);
        return readFrom(new ClusterConfig.Address("127.0.0.1", server.actualPort()));
    }

    private byte[] readFrom(ClusterConfig.Address owner) throws Exception {
        ByteArrayOutputStream got = new ByteArrayOutputStream();
        CompletableFuture<byte[]> whole = new CompletableFuture<>();
        cache.read(new ReadRequest(VERSION, 0, OBJECT.length, Pool.CACHE), source(owner),
                Runnable::run, new RangeReader.Sink() {
                    @Override
                    public void slice(PageSlice ownedSlice) {
                        try (ownedSlice) {
                            for (ByteBuffer each : ownedSlice.buffers()) {
                                byte[] copy = new byte[each.remaining()];
                                each.get(copy);
                                got.writeBytes(copy);
                            }
                        }
                    }

                    @Override
                    public void end() {
                        whole.complete(got.toByteArray());
                    }

                    @Override
                    public void failed(FillException cause, long atOffset) {
                        whole.completeExceptionally(cause);
                    }
                }).start();
        return whole.get(20, TimeUnit.SECONDS);
    }

    private PageSource source(ClusterConfig.Address owner) {
        return (version, offset, length, sink) -> {
            FillRequest asked = new FillRequest("store", "bucket", "key", null, version.etag(), "",
                    version.sizeBytes(), offset, length, "AK", null, "",
                    FetchTurn.Urgency.WANTED);
            Context context = vertx.getOrCreateContext();
            PeerFetch fetch = new PeerFetch(vertx, client, new PeerFetch.Member(who, owner),
                    headMillis, asked,
                    sink,
                    new PeerFetch.Ending() {
                        @Override
                        public void ended(PeerFetch.Result result, long doneBytes) {
                            results.add(result);
                        }

                        @Override
                        public boolean isThere() {
                            return isThere;
                        }

                        @Override
                        public void rest(long doneBytes) {
                            storeFrom.add(offset + doneBytes);
                            sink.write(ByteBuffer.wrap(OBJECT, (int) (offset + doneBytes),
                                    (int) (length - doneBytes)));
                            sink.complete();
                        }
                    });
            context.runOnContext(_ -> fetch.start());
        };
    }

    private void expect(PeerFetch.Result result, @Nullable Long fromStore) {
        assertThat(results).containsExactly(result);
        assertThat(storeFrom).isEqualTo(fromStore == null ? List.of() : List.of(fromStore));
    }

    @Test
    void theOwnersPagesAreTaken() throws Exception {
        assertThat(read(request -> request.response().setChunked(true).end(pages(4))))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.FILLED, null);
    }

    @Test
    void aPageThatItsChecksumDoesNotFitComesFromTheStore() throws Exception {
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(pages(1).appendBuffer(page(1, 1)).appendBuffer(page(2, 0)))))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.DAMAGED, (long) PAGE);
    }

    @Test
    void aBitThatChangedOnTheWayComesFromTheStore() throws Exception {
        Buffer damaged = pages(4);
        damaged.setByte(100, (byte) (damaged.getByte(100) ^ 4));
        assertThat(read(request -> request.response().setChunked(true).end(damaged)))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.DAMAGED, 0L);
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 409, 500})
    void aRefusalIsTheStores(int status) throws Exception {
        assertThat(read(request -> request.response().setStatusCode(status).end()))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.REFUSED, 0L);
    }

    @Test
    void anOwnerThatSaysNothingIsNotWaitedFor() throws Exception {
        headMillis = 1_000;
        assertThat(read(_ -> {})).isEqualTo(OBJECT);
        expect(PeerFetch.Result.SILENT, 0L);
    }

    /** An owner that is asked much must not be taken for one that is silent. */
    @Test
    void whoFindsNoConnectionFreeAsksTheStore() throws Exception {
        client = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(1));
        HttpServer server = vertx.createHttpServer()
                .requestHandler(_ -> {})
                .listen(0, "127.0.0.1")
                .await(20, TimeUnit.SECONDS);
        client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/")
                .await(20, TimeUnit.SECONDS);
        headMillis = 20;
        assertThat(readFrom(new ClusterConfig.Address("127.0.0.1", server.actualPort())))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.BUSY, 0L);
    }

    @Test
    void anOwnerThatIsNotThereIsTheStores() throws Exception {
        assertThat(readFrom(new ClusterConfig.Address("127.0.0.1", 1))).isEqualTo(OBJECT);
        expect(PeerFetch.Result.UNREACHABLE, 0L);
    }

    @Test
    void anOwnerThatSaysItHasNoMoreIsContinuedAtTheStore() throws Exception {
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(pages(2).appendLong(0)))).isEqualTo(OBJECT);
        expect(PeerFetch.Result.BROKEN, 2L * PAGE);
    }

    @Test
    void anAnswerThatEndsWithinAPageIsContinuedAtItsStart() throws Exception {
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(pages(2).getBuffer(0, PAGE + 5_000)))).isEqualTo(OBJECT);
        expect(PeerFetch.Result.BROKEN, (long) PAGE);
    }

    @Test
    void anOwnerThatGoesAwayIsContinuedAtTheStore() throws Exception {
        assertThat(read(request -> {
            request.response().setChunked(true).write(pages(1));
            request.connection().close();
        })).isEqualTo(OBJECT);
        assertThat(results).containsExactly(PeerFetch.Result.BROKEN);
    }

    /** Such as one that is paused: its connection stays. */
    @Test
    void anOwnerThatIsNotSeenAnyMoreIsContinuedAtTheStore() throws Exception {
        isThere = false;
        assertThat(read(request -> request.response().setChunked(true).write(pages(1))))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.BROKEN, (long) PAGE);
    }

    @Test
    void pagesOfAnotherSizeAreNotTaken() throws Exception {
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(Buffer.buffer().appendInt(PAGE / 2).appendInt(0).appendBytes(new byte[PAGE]))))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.BROKEN, 0L);
    }

    @Test
    void anOwnerOfBeforeIsAskedForWhatItHolds() throws Exception {
        who = PeerFetch.Asked.PREVIOUS_OWNER;
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(FillPort.HELD_PATH.equals(request.path()) ? pages(4) : Buffer.buffer())))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.FILLED, null);
    }

    @Test
    void anOwnerOfBeforeThatHoldsNothingIsTheStores() throws Exception {
        who = PeerFetch.Asked.PREVIOUS_OWNER;
        assertThat(read(request -> request.response().setStatusCode(404).end()))
                .isEqualTo(OBJECT);
        expect(PeerFetch.Result.NOT_HELD, 0L);
    }

    @Test
    void anOwnerOfBeforeThatHoldsAPartIsContinuedAtTheStore() throws Exception {
        who = PeerFetch.Asked.PREVIOUS_OWNER;
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(pages(1).appendLong(0)))).isEqualTo(OBJECT);
        expect(PeerFetch.Result.NOT_HELD, (long) PAGE);
    }

    @Test
    void aWrongPageOfAnOwnerOfBeforeIsRefused() throws Exception {
        who = PeerFetch.Asked.PREVIOUS_OWNER;
        assertThat(read(request -> request.response()
                .setChunked(true)
                .end(pages(2).appendBuffer(page(2, 1))))).isEqualTo(OBJECT);
        expect(PeerFetch.Result.DAMAGED, 2L * PAGE);
    }

    /** Whatever the bytes, none of them is taken for the object's. */
    @Test
    void noiseIsTheStores() throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            byte[] noise = random(seed, 1 + 7_000 * seed);
            assertThat(read(request -> request.response()
                    .setChunked(true)
                    .end(Buffer.buffer(noise)))).as("seed " + seed).isEqualTo(OBJECT);
            cache.invalidate(VERSION.object(), EvictionCause.INVALIDATED);
        }
    }
}
