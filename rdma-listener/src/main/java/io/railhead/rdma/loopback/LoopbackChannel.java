package io.railhead.rdma.loopback;

import io.netty.channel.ChannelHandlerContext;
import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.RequestView;
import io.railhead.protocol.message.MessageException;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.OutstandingRequests;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.PeerSession;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one connection. Answers given while bytes are read leave in one flush after the
 * read. Answers from other threads come by a queue that one task empties. Event loop only, unless
 * said otherwise.
 */
final class LoopbackChannel implements RequestChannel {
    private static final Logger log = LoggerFactory.getLogger(LoopbackChannel.class);

    private final CopyEngine engine;
    private final RequestHandler handler;
    private final PeerSession session;
    private final ChannelHandlerContext context;
    private final OutstandingRequests outstanding;
    private final AnswerBatch batch;
    private final RequestView view = new RequestView();
    private final Queue<Answer> fromElsewhere = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean emptying = new AtomicBoolean();
    private boolean reading;
    private boolean broken;
    private boolean ended;

    LoopbackChannel(CopyEngine engine, RequestHandler handler, PeerSession session,
            ChannelHandlerContext context, int maxRequests) {
        this.engine = engine;
        this.handler = handler;
        this.session = session;
        this.context = context;
        this.outstanding = new OutstandingRequests(maxRequests);
        this.batch = new AnswerBatch(context);
    }

    @Override
    public PeerSession session() {
        return session;
    }

    @Override
    public Executor executor() {
        return context.executor();
    }

    /** Serves the records of a message, up to a malformed one. */
    void requests(ByteBuffer message, int from, int end) throws MessageException {
        reading = true;
        for (int at = from; at < end && !ended && !broken;) {
            at = view.wrap(message, at, end);
            outstanding.add(view.id(), view.operation());
            session.asked();
            handler.handle(view, this);
        }
    }

    void cancel(int requestId) {
        if (outstanding.tryCancel(requestId)) {
            reading = true;
            handler.cancel(requestId, this);
        }
    }

    /** Sends the answers after all received bytes were read. */
    void readComplete() {
        reading = false;
        flush();
    }

    @Override
    public void answer(Answer answer) {
        if (!context.executor().inEventLoop()) {
            fromElsewhere.add(answer);
            if (emptying.compareAndSet(false, true)) {
                context.executor().execute(this::takeFromElsewhere);
            }
            return;
        }
        put(answer);
        if (!reading) {
            flush();
        }
    }

    private void takeFromElsewhere() {
        emptying.set(false);
        for (Answer next = fromElsewhere.poll(); next != null; next = fromElsewhere.poll()) {
            put(next);
        }
        flush();
    }

    private void put(Answer answer) {
        if (ended || broken) {
            return;
        }
        if (!outstanding.remove(answer.id())) {
            log.error("loopback session {}: request {} is answered twice, or was never asked",
                    session.label(), answer.id());
            return;
        }
        try {
            batch.add(answer.named(session.number()));
        } catch (MessageException e) {
            breakOff(e);
        }
    }

    private void flush() {
        if (broken) {
            return;
        }
        try {
            batch.flush();
        } catch (MessageException e) {
            breakOff(e);
        }
    }

    /** Fires from the pipeline's head: the connection's handler is not behind this context. */
    private void breakOff(MessageException e) {
        broken = true;
        context.pipeline().fireExceptionCaught(e);
    }

    @Override
    public void deliver(RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count,
            Answer answer) {
        SharedRegion region;
        long bytes;
        try {
            bytes = requireWithin(window, ownedSlices, count);
            region = requireHeld(window);
        } catch (TransferException e) {
            closeAll(ownedSlices, count);
            undelivered(answer.id(), e);
            return;
        }
        engine.counts().began();
        if (engine.isInline(region, bytes)) {
            delivered(region, ownedSlices, count, answer,
                    copy(region, window, 0, ownedSlices, 0, count));
            return;
        }
        LoopbackDelivery loopbackDelivery = new LoopbackDelivery(this, region, window,
                Arrays.copyOf(ownedSlices, count),
                answer);
        if (!engine.workers(region).trySubmit(session.principal(), loopbackDelivery)) {
            loopbackDelivery.end(CopyEngine.closing());
        }
    }

    private long requireWithin(RemoteBuffer window, @Nullable PageSlice[] slices, int count) {
        if (window.session() != session) {
            throw new TransferException(Reason.FOREIGN_SESSION,
                    "the window is of session " + window.session().number());
        }
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            PageSlice slice = slices[i];
            bytes += slice == null ? 0 : slice.length();
        }
        if (bytes > window.length()) {
            throw new TransferException(Reason.OUT_OF_BOUNDS,
                    bytes + " bytes do not lie within the window of " + window.length());
        }
        return bytes;
    }

    private SharedRegion requireHeld(RemoteBuffer window) {
        SharedRegion region = engine.requireRegion(window);
        if (!region.tryRetain()) {
            throw new TransferException(Reason.UNKNOWN_KEY, "the buffer was deregistered");
        }
        return region;
    }

    /**
     * Copies slices {@code [from, to)} to {@code offset} of the window, whose region the caller
     * holds. Any thread.
     *
     * @return why some bytes were not copied; null if all were
     */
    @Nullable
    TransferException copy(SharedRegion region, RemoteBuffer window, long offset,
            @Nullable PageSlice[] slices, int from, int to) {
        if (engine.isClosing()) {
            return CopyEngine.closing();
        }
        if (!session.isOpen()) {
            return session.brokenOff();
        }
        long began = System.nanoTime();
        long at = window.address() - region.baseAddress() + offset;
        long next = at;
        try {
            for (int i = from; i < to; i++) {
                PageSlice slice = slices[i];
                if (slice != null) {
                    region.memory().put(next, slice);
                    next += slice.length();
                }
            }
            engine.counts().written(next - at);
            session.moved(next - at);
            engine.counts().copied(System.nanoTime() - began);
            return null;
        } catch (RuntimeException | Error e) {
            return CopyEngine.failed(session, e);
        }
    }

    /** Releases the slices and the region, and then answers. Any thread. */
    void delivered(SharedRegion heldRegion, @Nullable PageSlice[] ownedSlices, int count,
            Answer answer, @Nullable TransferException failure) {
        heldRegion.release();
        closeAll(ownedSlices, count);
        if (failure == null) {
            answer(answer);
        } else {
            undelivered(answer.id(), failure);
        }
    }

    private void undelivered(int requestId, TransferException failure) {
        engine.counts().refused(failure.reason());
        answer(Answer.declined(requestId, failure.reason().name().toLowerCase(Locale.ROOT)));
    }

    private static void closeAll(@Nullable PageSlice[] ownedSlices, int count) {
        for (int i = 0; i < count; i++) {
            PageSlice slice = ownedSlices[i];
            if (slice != null) {
                slice.close();
            }
        }
    }

    /**
     * Ends the channel: nothing more is answered, and the handler is told. Further calls do
     * nothing.
     */
    void end() {
        if (ended) {
            return;
        }
        takeFromElsewhere();
        ended = true;
        try {
            handler.ended(this);
        } catch (RuntimeException | Error e) {
            log.error("loopback session {}: its requests' handler", session.label(), e);
        }
    }

    /** Returns final answers of unanswered requests, once nothing touches their buffers. */
    List<Answer> unserved() {
        return outstanding.unserved(session.endReason().word());
    }
}
