package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.cache.CacheControl;
import io.railhead.cache.FillException;
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
 * Runs that go on to disk leave memory again, unless they were cached before. The context's event
 * loop only, except for {@link #start} and {@link #cancel}.
 */
public final class WarmRead implements Destination, ResponseSink, RangeReader.Sink {
    private static final Logger LOG = LoggerFactory.getLogger(WarmRead.class);
    /** The time after which a disk that had too many pages waiting is offered them again. */
    private static final long DISK_PAUSE_MILLIS = 20;
    /** The most fetches of a run whose pages leave memory before the disk has taken them. */
    private static final int MAX_FETCHES = 3;

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

        /** Counts bytes that were put on disk. */
        void kept(long bytes);

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
    private final boolean toDisk;
    private final End end;
    private final ObjectId id;
    private final long arrivedAtNanos = System.nanoTime();
    private final List<Runnable> closeListeners = new ArrayList<>(1);
    private boolean over;
    private long reserved;
    private long paidTo;
    private long fetched;
    private boolean kept;
    private long at;
    /** The end of those pages of the run that the disk has taken. */
    private long keptTo;
    private int fetches;
    /** True after a page was missing that may be indexed in a moment. */
    private boolean awaited;
    /** True if the disk does not keep some part. */
    private boolean leftOut;
    private @Nullable ObjectRead read;
    private @Nullable ReadPlan plan;
    private @Nullable RangeReader reader;

    /** @param toDisk whether the object is put on disk, instead of memory */
    public WarmRead(ReadServices services, S3Request request, Context context, Gate gate,
            boolean toDisk, End end) {
        this.services = services;
        this.request = request;
        this.context = context;
        this.gate = gate;
        this.toDisk = toDisk;
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
        ObjectMetadata known = services.cache().find(id);
        if (known != null && (isCached(known, 0, known.version().sizeBytes())
                || isThere(known, 0, known.version().sizeBytes()))) {
            paidTo = 0;
        }
        pass(paidTo, () -> new ObjectRead(services, request, this).start());
    }

    private boolean isCached(ObjectMetadata metadata, long from, long to) {
        return services.cache().holds(metadata.version(), from, to);
    }

    /** Returns whether a part is where it is to be. */
    private boolean isThere(ObjectMetadata metadata, long from, long to) {
        return toDisk
                ? services.cache().control().holdsBelow(metadata.version(), from, to)
                : isCached(metadata, from, to);
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

    /** Continues with the next run that is not there. */
    private void next() {
        ReadPlan whole = plan;
        if (over || whole == null) {
            return;
        }
        fetches = 0;
        while (at < whole.to() && isThere(whole.metadata(), at, runEnd())) {
            if (at < paidTo && !toDisk) {
                // The discovery has fetched this run already.
                fetched += runEnd() - at;
            }
            at = runEnd();
        }
        keptTo = at;
        if (at >= whole.to()) {
            finish(outcome(), "");
        } else if (toDisk && isCached(whole.metadata(), at, runEnd())) {
            keep(whole, at < paidTo);
        } else if (at < paidTo) {
            fetch();
        } else {
            pass(runEnd() - at, this::fetch);
        }
    }

    private Outcome outcome() {
        if (leftOut) {
            return Outcome.NOT_CACHED;
        }
        return fetched == 0 && !kept ? Outcome.HELD : Outcome.FILLED;
    }

    /**
     * Puts a cached run on disk.
     *
     * @param giveUp whether this read has brought the run, so that it leaves memory
     */
    private void keep(ReadPlan whole, boolean giveUp) {
        if (over) {
            return;
        }
        CacheControl.KeptTo progress = services.cache()
                .control()
                .keepBelow(whole.metadata().version(), keptTo, runEnd(), giveUp);
        keptTo = progress.to();
        switch (progress.kept()) {
            case YES -> {
                // Here, since a run may be fetched again.
                fetched += giveUp ? runEnd() - at : 0;
                kept = true;
                gate.kept(runEnd() - at);
                goOn();
            }
            case LATER -> keepLater(whole, giveUp);
            case MISSING -> {
                // The last page is indexed just after its reader was told.
                awaited = !awaited;
                if (awaited) {
                    keepLater(whole, giveUp);
                } else {
                    pass(runEnd() - keptTo, this::fetch);
                }
            }
            case BUDGET -> finish(Outcome.FULL, "the disks' write budget of the day is used up");
            case NEVER -> {
                leftOut = true;
                goOn();
            }
            case FAILED -> finish(Outcome.FAILED, "the disks take no page of it");
        }
    }

    private void keepLater(ReadPlan whole, boolean giveUp) {
        services.vertx()
                .setTimer(DISK_PAUSE_MILLIS, _ -> executor().execute(() -> keep(whole, giveUp)));
    }

    /** Goes on with the next run, in a task of its own: many runs may be there already. */
    private void goOn() {
        at = runEnd();
        executor().execute(this::next);
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
        if (++fetches > MAX_FETCHES) {
            finish(Outcome.FAILED, "its pages left memory before they were on disk");
            return;
        }
        RangeReader run = from.scope()
                .reader(new ReadPlan(whole.metadata(), keptTo, runEnd(), 206), Pool.CACHE, this);
        reader = run;
        run.start();
    }

    @Override
    public void slice(PageSlice ownedSlice) {
        if (!toDisk) {
            fetched += ownedSlice.length();
        }
        ownedSlice.close();
    }

    @Override
    public void end() {
        ReadPlan whole = plan;
        if (toDisk && whole != null) {
            keep(whole, true);
        } else {
            at = runEnd();
            next();
        }
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
