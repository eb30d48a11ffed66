package io.railhead.gateway.cluster;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.railhead.cache.FillException;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pages of a run on their way to the member that asked. The head leaves at once, so that the
 * asker does not wait for a silent owner; pages follow as they come. Each write references page
 * memory, and the page's lease ends when that write has reached the socket or failed. The reader's
 * window bounds how much waits. One event loop only.
 */
final class FillAnswer implements RangeReader.Sink {
    private static final Logger LOG = LoggerFactory.getLogger(FillAnswer.class);
    /** The time in which an asker takes any page: longer than it waits for one. */
    private static final long STALL_MILLIS = 2 * PeerFills.STALL_MILLIS;
    private static final int HEAD_BYTES = 8;

    private final Vertx vertx;
    private final HttpServerResponse response;
    private final Metrics metrics;
    private final Runnable ended;
    private @Nullable RangeReader reader;
    private long timer;
    private long waiting;
    private long written;
    private boolean over;
    private boolean told;

    /** @param ended runs once, when no page of the answer is leased any more */
    FillAnswer(Vertx vertx, HttpServerResponse response, Metrics metrics, Runnable ended) {
        this.vertx = vertx;
        this.ended = ended;
        this.response = response;
        this.metrics = metrics;
    }

    void begin(RangeReader pages) {
        reader = pages;
        response.setChunked(true).closeHandler(_ -> gone()).exceptionHandler(_ -> gone());
        response.writeHead();
        watch();
        pages.start();
    }

    /** Closes the connection of an asker that takes nothing: its pages stay leased until then. */
    private void watch() {
        long before = written;
        timer = vertx.setTimer(STALL_MILLIS, _ -> {
            if (waiting > 0 && written == before) {
                response.reset();
            } else {
                watch();
            }
        });
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        if (over) {
            ownedSlice.close();
            return;
        }
        try {
            Buffer bytes = BufferInternal.buffer(bytes(ownedSlice));
            waiting++;
            response.write(bytes).onComplete(_ -> {
                ownedSlice.close();
                waiting--;
                written++;
                stopIfDone();
            });
        } catch (RuntimeException | Error e) {
            ownedSlice.close();
            throw e;
        }
        metrics.peerBytes.labels("out").inc(ownedSlice.length());
    }

    private static ByteBuf bytes(PageSlice slice) {
        List<ByteBuffer> pages = slice.buffers();
        ByteBuffer[] all = new ByteBuffer[pages.size() + 1];
        all[0] = ByteBuffer.allocate(HEAD_BYTES)
                .putInt(slice.length())
                .putInt(crc32c(slice.lease().page()))
                .flip();
        for (int i = 0; i < pages.size(); i++) {
            all[i + 1] = pages.get(i);
        }
        return Unpooled.wrappedBuffer(all.length, all);
    }

    private static int crc32c(Page page) {
        return page.crc32c().orElseGet(() -> {
            // A fabric placed the bytes: this is the first time that they are looked at.
            CRC32C crc = new CRC32C();
            page.addTo(crc);
            return (int) crc.getValue();
        });
    }

    @Override
    public void end() {
        finish("served");
        response.end();
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        LOG.debug("a run of another gateway ends at {}", atOffset, cause);
        finish("ended_early");
        response.end(Buffer.buffer(new byte[HEAD_BYTES]));
    }

    void thrown(Throwable cause) {
        LOG.warn("an answer to another gateway failed", cause);
        if (!over) {
            finish("failed");
            stopReader();
            response.reset();
        }
    }

    private void gone() {
        if (!over) {
            finish("gone");
            stopReader();
        }
        vertx.cancelTimer(timer);
    }

    private void finish(String result) {
        over = true;
        metrics.peerAnswers.labels(result).inc();
        stopIfDone();
    }

    private void stopIfDone() {
        if (over && waiting == 0 && !told) {
            told = true;
            vertx.cancelTimer(timer);
            ended.run();
        }
    }

    private void stopReader() {
        RangeReader running = reader;
        if (running != null) {
            running.cancel();
        }
    }
}
