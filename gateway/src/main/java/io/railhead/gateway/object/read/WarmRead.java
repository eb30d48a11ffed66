package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.cache.FillException;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.RangeReader;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Guard;
import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one object into the cache without a receiver. It is a read like any other, whose bytes are
 * released as they come. It proceeds run by run; while it waits for its rate, it leases no page.
 * The context's event loop only, except for {@link #start} and {@link #cancel}.
 */
public final class WarmRead implements Destination, ResponseSink, RangeReader.Sink {
    private static final Logger LOG = LoggerFactory.getLogger(WarmRead.class);

    /** The end of a warm read. */
    public enum Outcome {
        /** All pages were cached already. */
        HELD,
        FILLED,
        /** The object may not be cached, or cannot be. */
        NOT_CACHED,
        /** The store refuses the caller, or has no such object. */
        REFUSED,
        /** More pages would evict others. */
        FULL,
        FAILED,
        CANCELLED
    }

    /** The limits of amount and rate. Any thread. */
    public interface Gate {

        /** Reserves room for so many bytes; false if they would evict other pages. */
        boolean tryReserve(ObjectId id, long bytes);

        /** Returns reserved room that is used or not needed. */
        void release(long bytes);

        /** Runs {@code then} once the rate allows so many bytes more. */
        void whenAllowed(long bytes, Runnable then);
    }

    /** Receives the end, once; {@code detail} describes a failure and is "" otherwise. */
    @FunctionalInterface
    public interface End {
        void ended(Outcome outcome, long fetchedBytes, String detail);
    }

    private final ReadServices services;
    private final S3Request request;
    private final Context context;
    private final Gate gate;
    private final End end;
    private final ObjectId id;
    private final long arrivedAtNanos = System.nanoTime();
    private final List<Runnable> closeListeners = new ArrayList<>(1);
    private boolean over;
    private long reserved;
    private long paidTo;
    private long fetched;
    private long at;
    private @Nullable ObjectRead read;
    private @Nullable ReadPlan plan;
    private @Nullable RangeReader reader;

    public WarmRead(ReadServices services, S3Request request, Context context, Gate gate, End end) {
        this.services = services;
        this.request = request;
        this.context = context;
        this.gate = gate;
        this.end = end;
        this.id = request.objectId();
    }

    /** @param sizeBytes the object's size if known, else -1 */
    public void start(long sizeBytes) {
        executor().execute(() -> begin(sizeBytes));
    }

    private void begin(long sizeBytes) {
        if (!ReadRules.isCacheable(request)
                || sizeBytes > request.route().rule().maxObject().bytes()) {
            finish(Outcome.NOT_CACHED, "");
            return;
        }
        // The discovery request brings the first run with it.
        paidTo = sizeBytes < 0 ? services.runBytes() : Math.min(services.runBytes(), sizeBytes);
        if (isHeld(services.cache(), id)) {
            paidTo = 0;
        }
        pass(paidTo, () -> new ObjectRead(services, request, this).start());
    }

    /** Returns whether any version of the object is cached whole. */
    private static boolean isHeld(ObjectCache cache, ObjectId id) {
        ObjectMetadata known = cache.find(id);
        return known != null && cache.holds(known.version(), 0, known.version().sizeBytes());
    }

    private void pass(long bytes, Runnable then) {
        gate.release(reserved);
        reserved = 0;
        if (bytes > 0 && !gate.tryReserve(id, bytes)) {
            finish(Outcome.FULL, "of " + id.key() + " " + mebibytes(bytes) + " more are wanted");
            return;
        }
        reserved = bytes;
        gate.whenAllowed(bytes, () -> executor().execute(() -> {
            if (!over) {
                then.run();
            }
        }));
    }

    @Override
    public void deliver(ObjectRead from, ReadPlan whole, CacheResult expected) {
        read = from;
        plan = whole;
        at = whole.from();
        paidTo = Math.min(paidTo, whole.to());
        next();
    }

    /** Continues with the next run that is not cached. */
    private void next() {
        ReadPlan whole = plan;
        if (over || whole == null) {
            return;
        }
        while (at < whole.to()
                && services.cache().holds(whole.metadata().version(), at, runEnd())) {
            if (at < paidTo) {
                // The discovery has fetched this run already.
                fetched += runEnd() - at;
            }
            at = runEnd();
        }
        if (at >= whole.to()) {
            finish(fetched == 0 ? Outcome.HELD : Outcome.FILLED, "");
        } else if (at < paidTo) {
            fetch();
        } else {
            pass(runEnd() - at, this::fetch);
        }
    }

    private long runEnd() {
        long nextRun = (at / services.runBytes() + 1) * services.runBytes();
        return plan == null ? nextRun : Math.min(nextRun, plan.to());
    }

    private void fetch() {
        ReadPlan whole = plan;
        ObjectRead from = read;
        if (whole == null || from == null) {
            throw new IllegalStateException("nothing is planned");
        }
        RangeReader run = from.scope()
                .reader(new ReadPlan(whole.metadata(), at, runEnd(), 206), Pool.CACHE, this);
        reader = run;
        run.start();
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        fetched += ownedSlice.length();
        ownedSlice.close();
    }

    @Override
    public void end() {
        at = runEnd();
        next();
    }

    @Override
    public void failed(FillException cause, long atOffset) {
        ObjectRead from = read;
        if (over || from == null) {
            return;
        }
        switch (cause.reason()) {
            case NO_MEMORY -> finish(Outcome.FULL, "no page was free for " + id.key());
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> from.restart(cause);
            case BACKEND_FAILED, BACKEND_ERROR, CORRUPT ->
                finish(Outcome.FAILED, String.valueOf(cause.getMessage()));
        }
    }

    @Override
    public void uncacheable() {
        finish(Outcome.NOT_CACHED, "");
    }

    @Override
    public void refused() {
        finish(Outcome.REFUSED, "");
    }

    @Override
    public void refused(BackendResponse answer) {
        BodyDrain.discard(answer.body());
        if (answer.status() >= 500) {
            finish(Outcome.FAILED, "the store answered " + answer.status());
        } else {
            finish(Outcome.REFUSED, "");
        }
    }

    @Override
    public void unsatisfiable() {
        throw new IllegalStateException("no range was asked for");
    }

    private void thrown(Throwable cause) {
        LOG.warn("a read that warms failed", cause);
        services.metrics().internalErrors.labels("warming").inc();
        fail(cause);
    }

    @Override
    public void fail(Throwable cause) {
        finish(Outcome.FAILED, String.valueOf(cause.getMessage()));
    }

    /** Cancels the read; fetches that no other request waits for are stopped. Any thread. */
    public void cancel() {
        executor().execute(() -> finish(Outcome.CANCELLED, ""));
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", (double) bytes / (1 << 20));
    }

    private void finish(Outcome outcome, String detail) {
        if (over) {
            return;
        }
        over = true;
        RangeReader running = reader;
        if (running != null) {
            running.cancel();
        }
        List.copyOf(closeListeners).forEach(Runnable::run);
        gate.release(reserved);
        end.ended(outcome, fetched, detail);
    }

    @Override
    public ResponseSink requester() {
        return this;
    }

    @Override
    public Executor executor() {
        return task -> context.runOnContext(_ -> Guard.run(task, this::thrown));
    }

    @Override
    public long arrivedAtNanos() {
        return arrivedAtNanos;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void onClosed(Runnable listener) {
        closeListeners.add(listener);
    }
}
