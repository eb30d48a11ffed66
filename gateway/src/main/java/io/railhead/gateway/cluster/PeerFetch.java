package io.railhead.gateway.cluster;

import io.netty.buffer.ByteBuf;
import io.railhead.cache.FillException;
import io.railhead.cache.FillException.Reason;
import io.railhead.cache.PageSource;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cluster.ClusterConfig;
import io.railhead.gateway.s3.Guard;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run's bytes on their way from their owner, or from the owner of before. Each page is compared
 * with its owner's checksum before the cache takes it. What does not come, or is damaged, the store
 * is asked for, from that page on. One event loop only.
 */
final class PeerFetch {
    private static final Logger LOG = LoggerFactory.getLogger(PeerFetch.class);
    private static final int HEAD_BYTES = 8;
    private static final long LOOK_MILLIS = 1_000;
    private static final int NOT_FOUND = 404;

    /** The member that is asked, by what it has to do with the run. */
    enum Asked {
        /** Fetches what it does not hold. The asker keeps its pages as guests. */
        OWNER(FillPort.PATH),
        /** Gives what it holds and nothing else. The asker owns the run and keeps the pages. */
        PREVIOUS_OWNER(FillPort.HELD_PATH);

        private final String path;

        Asked(String path) {
            this.path = path;
        }
    }

    /** The member that is asked, and where it answers. */
    record Member(Asked who, ClusterConfig.Address address) {}

    /** The end of a member's answer. */
    enum Result {
        FILLED,
        /** An owner of before does not hold all of it. */
        NOT_HELD,
        /** The status says that it would not. */
        REFUSED,
        /** No connection was free in time: the owner is asked much, and may be well. */
        BUSY,
        /** No answer began in time. */
        SILENT,
        UNREACHABLE,
        /** An answer ended early, or stalled. */
        BROKEN,
        /** A page was not what its checksum says. */
        DAMAGED,
        /** Nobody waits for the bytes any more. */
        UNWANTED;

        String label(Asked who) {
            return this == FILLED && who == Asked.PREVIOUS_OWNER
                    ? "handed_over"
                    : name().toLowerCase(Locale.ROOT);
        }
    }

    /** Learns the end, once. */
    interface Ending {

        void ended(Result result, long doneBytes);

        /** Returns whether the owner is still a member, as far as this gateway sees. */
        boolean isThere();

        /** Fetches what is missing from the store. */
        void rest(long doneBytes);
    }

    private final Vertx vertx;
    private final HttpClientAgent client;
    private final Asked who;
    private final ClusterConfig.Address owner;
    private final long headMillis;
    private final FillRequest asked;
    private final PageSource.Sink sink;
    private final Ending ending;
    private final ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
    private @Nullable HttpClientRequest request;
    private @Nullable LandingPage page;
    private int expectedCrc;
    private long doneBytes;
    private long seenBytes;
    private long lookedBytes;
    private long stalledMillis;
    private long timer;
    private boolean over;

    /**
     * @param headMillis the time in which a connection is free, and then that in which the owner
     *            begins its answer
     */
    PeerFetch(Vertx vertx, HttpClientAgent client, Member member, long headMillis,
            FillRequest asked, PageSource.Sink sink, Ending ending) {
        this.vertx = vertx;
        this.client = client;
        this.who = member.who();
        this.owner = member.address();
        this.headMillis = headMillis;
        this.asked = asked;
        this.sink = sink;
        this.ending = ending;
    }

    void start() {
        timer = vertx.setTimer(headMillis, _ -> giveUp(Result.BUSY));
        Guard.run(this::ask, this::thrown);
    }

    private void ask() {
        client.request(new RequestOptions().setMethod(HttpMethod.POST)
                .setHost(owner.host())
                .setPort(owner.port())
                .setURI(who.path))
                .onFailure(_ -> giveUp(Result.UNREACHABLE))
                .onSuccess(made -> Guard.run(() -> send(made), this::thrown));
    }

    private void send(HttpClientRequest made) {
        if (over) {
            made.reset();
            return;
        }
        request = made;
        vertx.cancelTimer(timer);
        timer = vertx.setTimer(headMillis, _ -> giveUp(Result.SILENT));
        made.send(asked.json())
                .onFailure(_ -> giveUp(Result.UNREACHABLE))
                .onSuccess(answer -> Guard.run(() -> answered(answer), this::thrown));
    }

    private void answered(HttpClientResponse answer) {
        if (over) {
            return;
        }
        if (answer.statusCode() != 200) {
            // Its few bytes are read away, and the connection stays.
            request = null;
            giveUp(who == Asked.PREVIOUS_OWNER && answer.statusCode() == NOT_FOUND
                    ? Result.NOT_HELD
                    : Result.REFUSED);
            return;
        }
        vertx.cancelTimer(timer);
        watch();
        answer.handler(Guard.handler(this::take, this::thrown))
                .exceptionHandler(_ -> giveUp(Result.BROKEN))
                .endHandler(_ -> giveUp(Result.BROKEN));
    }

    /** Gives up once nothing has come for long, or from an owner that is not seen any more. */
    private void watch() {
        timer = vertx.setPeriodic(LOOK_MILLIS, _ -> {
            stalledMillis = seenBytes == lookedBytes ? stalledMillis + LOOK_MILLIS : 0;
            lookedBytes = seenBytes;
            if (stalledMillis >= PeerFills.STALL_MILLIS
                    || (stalledMillis > 0 && !ending.isThere())) {
                giveUp(Result.BROKEN);
            }
        });
    }

    private void take(Buffer buffer) {
        ByteBuf bytes = ((BufferInternal) buffer).getByteBuf();
        seenBytes += bytes.readableBytes();
        for (ByteBuffer each : bytes.nioBuffers()) {
            while (!over && each.hasRemaining()) {
                LandingPage landing = page;
                if (landing == null) {
                    takeHead(each);
                } else {
                    int count = Math.min(landing.remaining(), each.remaining());
                    landing.write(each.slice(each.position(), count));
                    each.position(each.position() + count);
                    if (landing.remaining() == 0) {
                        landed(landing);
                    }
                }
            }
        }
    }

    private void takeHead(ByteBuffer bytes) {
        while (head.hasRemaining() && bytes.hasRemaining()) {
            head.put(bytes.get());
        }
        if (head.hasRemaining()) {
            return;
        }
        int length = head.getInt(0);
        expectedCrc = head.getInt(Integer.BYTES);
        head.clear();
        if (length == 0) {
            giveUp(who == Asked.PREVIOUS_OWNER ? Result.NOT_HELD : Result.BROKEN);
            return;
        }
        LentMemory lent = sink.lend();
        if (lent == null) {
            // The fill has ended: its bytes are not those that the store's checksum names.
            unwanted();
            return;
        }
        page = new LandingPage(lent);
        if (lent.length() != length) {
            giveUp(Result.BROKEN);
        }
    }

    private void landed(LandingPage landing) {
        boolean right = landing.crc32c() == expectedCrc;
        landing.close();
        page = null;
        if (!right) {
            LOG.warn("{} sent a page of {}/{} that its checksum does not fit; the store is asked",
                    owner, asked.bucket(), asked.key());
            giveUp(Result.DAMAGED);
            return;
        }
        try {
            if (who == Asked.OWNER) {
                sink.guest();
            }
            sink.placed(expectedCrc);
        } catch (RuntimeException | Error e) {
            // A part may have been taken, so nothing can follow.
            LOG.warn("a page of another gateway was not taken", e);
            end(Result.BROKEN);
            sink.fail(new FillException(Reason.BACKEND_FAILED, "a page was not taken", e));
            return;
        }
        doneBytes += landing.length();
        if (doneBytes == asked.length()) {
            over = true;
            vertx.cancelTimer(timer);
            ending.ended(Result.FILLED, doneBytes);
            sink.complete();
        }
    }

    private void unwanted() {
        end(Result.UNWANTED);
        sink.fail(new FillException(Reason.BACKEND_FAILED, "no memory was lent", null));
    }

    private void thrown(Throwable cause) {
        LOG.warn("an answer of {} could not be taken", owner, cause);
        giveUp(Result.BROKEN);
    }

    /** Asks the store for what has not come. */
    private void giveUp(Result result) {
        if (over) {
            return;
        }
        end(result);
        Guard.run(() -> ending.rest(doneBytes), cause -> sink.fail(
                new FillException(Reason.BACKEND_FAILED, "the fetch could not be sent", cause)));
    }

    private void end(Result result) {
        over = true;
        vertx.cancelTimer(timer);
        LandingPage landing = page;
        page = null;
        if (landing != null) {
            landing.close();
        }
        HttpClientRequest open = request;
        if (open != null) {
            open.reset();
        }
        ending.ended(result, doneBytes);
    }
}
