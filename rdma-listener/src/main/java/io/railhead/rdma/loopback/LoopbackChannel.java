package io.railhead.rdma.loopback;

import io.netty.channel.ChannelHandlerContext;
import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.Answer;
import io.railhead.rdma.channel.OutstandingRequests;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.channel.RequestView;
import io.railhead.rdma.session.MessageException;
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
 * The requests of one connection. What is answered while bytes are read goes out in one flush when
 * they have all been; what other threads answer comes by a queue that one task empties. Event loop
 * only, but for {@link #answer} and {@link #undelivered}.
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

    /** Serves the records of a message, until one is malformed. */
    void requests(ByteBuffer message, int from, int end) throws MessageException {
        reading = true;
        for (int at = from; at < end && !ended;) {
            at = view.wrap(message, at, end);
            outstanding.add(view.id(), view.operation());
            handler.handle(view, this);
        }
    }

    void cancel(int requestId) {
        if (outstanding.contains(requestId)) {
            reading = true;
            handler.cancel(requestId, this);
        }
    }

    /** All that had come is read: now the answers go. */
    void readComplete() throws MessageException {
        reading = false;
        batch.flush();
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
        if (ended) {
            return;
        }
        if (!outstanding.remove(answer.id())) {
            log.error("loopback session {}: request {} is answered twice, or was never asked",
                    session.number(), answer.id());
            return;
        }
        try {
            batch.add(answer);
        } catch (MessageException e) {
            context.fireExceptionCaught(e);
        }
    }

    private void flush() {
        try {
            batch.flush();
        } catch (MessageException e) {
            context.fireExceptionCaught(e);
        }
    }

    @Override
    public void deliver(RemoteBuffer window, @Nullable PageSlice[] ownedSlices, int count,
            Answer answer) {
        SharedRegion region;
        long bytes;
        try {
            bytes = requireWithin(window, ownedSlices, count);
            region = requireHeld(window);
        } catch (RuntimeException e) {
            Delivery.closeAll(ownedSlices, count);
            undelivered(answer.id(), e);
            return;
        }
        engine.counts().began();
        if (bytes <= engine.inlineBytes()) {
            Delivery delivery = new Delivery(engine, this, region, window, ownedSlices, count,
                    answer);
            while (delivery.step()) {
                // Until all is there.
            }
            return;
        }
        Delivery delivery = new Delivery(engine, this, region, window,
                Arrays.copyOf(ownedSlices, count), count, answer);
        if (!engine.workers().trySubmit(session.principal(), delivery)) {
            delivery.breakOff(CopyEngine.closing());
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

    /** Answers a request whose bytes are not, or not all, in its window. Any thread. */
    void undelivered(int requestId, RuntimeException cause) {
        if (cause instanceof TransferException failure) {
            answer(Answer.declined(requestId, failure.reason().name().toLowerCase(Locale.ROOT)));
        } else {
            log.error("loopback delivery", cause);
            answer(Answer.declined(requestId, "unavailable"));
        }
    }

    /** From now on nothing is answered; the handler hears. Further calls do nothing. */
    void end() {
        if (ended) {
            return;
        }
        takeFromElsewhere();
        ended = true;
        batch.drop();
        handler.ended(this);
    }

    /** What to tell of those that were not answered, once nothing touches their buffers. */
    List<Answer> unserved() {
        return outstanding.unserved(session.endReason().word());
    }
}
