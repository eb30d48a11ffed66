package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.cache.Writes;
import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogOwner;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.request.WriteBackStores;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The objects that were acknowledged at the gateway's disk, until the store has them. A write is
 * acknowledged once the log has flushed it. Each bucket's writes reach the store in the order of
 * their acknowledgements, with retries for ever. A write stays pending until the log has flushed
 * its end, so that a restart never writes an old object over a newer one.
 *
 * <p> Any thread; only {@link #close} blocks.
 *
 * <p> A long class: the one interface of requests to log and queues, a few lines for each call.
 */
public final class WriteBack implements AutoCloseable, WriteBackStores {
    /** The name that the credentials file gives the tenant of those who have none. */
    private static final String NO_TENANT = "default";

    private final WriteLog log;
    private final Writes writes;
    private final InstantSource clock;
    private final Bounds bounds;
    private final StoreProbe probe;
    private final LongSupplier nanoClock;
    private final Function<String, @Nullable Principal> principals;
    private final WriteBackCounts counts = new WriteBackCounts();
    private final ConcurrentMap<PendingName.Bucket, BucketQueue> queues = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, WriteThrottle> throttles = new ConcurrentHashMap<>();
    private final PendingKeys keys = new PendingKeys();
    private final DiscardedWrites discards = new DiscardedWrites();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("railhead-write-back").factory());
    private final OpenUploads uploads;
    private final LogRoom room;
    private final List<PendingWrite> recovered;
    private final Arrivals arrivals = new Arrivals();
    private final BucketQueue.Steps steps;
    private volatile @Nullable StoreWriter writer;

    /**
     * The state now, for metrics.
     *
     * @param oldestSeconds the age of the oldest pending write; 0 for none
     * @param stuck those that the store has refused
     * @param yieldedSeconds the time in which writes to stores waited for reads
     * @param overShare writes that the log did not take, since their tenant held its share of it
     */
    public record Stats(int pending, long pendingBytes, double oldestSeconds, int stuck,
            long atDisk, long atStore, long writtenBytes, long failedTries, long waitedTooLong,
            long discarded, double yieldedSeconds, long overShare, WriteLog.Stats log,
            OpenUploads.Stats uploads) {}

    /**
     * The configured bounds.
     *
     * @param patience how long a request waits for writes that are pending
     * @param bytesPerSecond the most to one store, on average; 0 for no limit
     * @param tenantPercent the most of the log that a tenant may hold, or a principal without one
     */
    public record Bounds(Duration patience, long bytesPerSecond, int tenantPercent) {}

    /**
     * Takes up the writes that the log holds; none is sent before {@link #start}.
     *
     * @param principals finds a principal of the file of credentials by its name
     */
    public WriteBack(WriteLog ownedLog, Writes writes, Bounds bounds, InstantSource clock,
            LongSupplier nanoClock, Function<String, @Nullable Principal> principals) {
        this.log = ownedLog;
        this.writes = writes;
        this.clock = clock;
        this.bounds = bounds;
        this.principals = principals;
        this.probe = new StoreProbe(nanoClock);
        this.nanoClock = nanoClock;
        this.uploads = new OpenUploads(log, clock);
        this.room = new LogRoom(log, bounds.patience(), nanoClock, this::refusedPart);
        this.steps = new QueueSteps(() -> writer, log, counts, this::forgotten, timer);
        LogContents found = LogContents.of(log);
        this.recovered = found.writes(writes);
        recovered.forEach(keys::add);
        recovered.forEach(discards::acknowledged);
        recovered.forEach(this::completed);
        recovered.forEach(write -> own(write.write().head(), write.entries()));
        for (OpenUpload upload : found.uploads()) {
            own(upload.head(), upload.entriesBut(List.of()));
            uploads.recover(upload);
        }
        found.removeTheRest();
    }

    private void completed(PendingWrite write) {
        if (write.write().isMultipart()) {
            uploads.completed(write.write());
        }
    }

    /** Called before anybody is told that the write is over. */
    private void forgotten(PendingWrite write) {
        if (write.isLeaving()) {
            uploads.forget(write.write());
        } else {
            discards.stored(write);
        }
        keys.remove(write);
    }

    /**
     * Starts to write to the stores.
     *
     * @param stores finds a store by its name, without this class around it
     */
    public void start(Function<String, @Nullable Backend> stores) {
        writer = new StoreWriter(log, stores, this::callerOf, store -> throttle(store, stores));
        recovered.forEach(this::enqueue);
        var _ = timer.scheduleWithFixedDelay(uploads::endAbandoned, 1, 1, TimeUnit.MINUTES);
    }

    private WriteThrottle throttle(String name, Function<String, @Nullable Backend> stores) {
        return throttles.computeIfAbsent(name, _ -> new WriteThrottle(bounds.bytesPerSecond, () -> {
            Backend store = stores.apply(name);
            return store == null ? 0 : store.stats().fetchesWaiting();
        }, nanoClock, steps::later, counts.yieldedNanos()));
    }

    /** Returns the names of the stores that writes in the log, or on their way there, are for. */
    public Set<String> stores() {
        // In the order in which an upload goes on, so that none is missed between two looks.
        Set<String> names = new HashSet<>(arrivals.stores());
        uploads.all().forEach(upload -> names.add(upload.head().name().backend()));
        pending().forEach(write -> names.add(write.name().backend()));
        return Set.copyOf(names);
    }

    /**
     * Starts or ends a change of the stores. Meanwhile no upload begins for the log, so that
     * {@link #stores} only gets less.
     */
    public void changeStores(boolean isUnderWay) {
        arrivals.close(isUnderWay);
    }

    /**
     * Counts an upload for the log. Refused while stores change, and for a store that has been
     * removed since the request was routed.
     */
    boolean tryArrive(Backend store) {
        StoreWriter to = writer;
        if (to == null || !arrivals.tryBegin(store.name())) {
            return false;
        }
        boolean isCurrent = store.equals(to.stores().apply(store.name()));
        if (!isCurrent) {
            arrived(store);
        }
        return isCurrent;
    }

    void arrived(Backend store) {
        arrivals.end(store.name());
    }

    List<PendingWrite> pending() {
        return pending(_ -> true);
    }

    /** Returns the pending writes of some buckets. */
    List<PendingWrite> pending(Predicate<PendingName.Bucket> buckets) {
        if (writer == null) {
            return recovered.stream()
                    .filter(write -> buckets.test(write.name().inBucket()))
                    .toList();
        }
        return queues.entrySet()
                .stream()
                .filter(queue -> buckets.test(queue.getKey()))
                .flatMap(queue -> queue.getValue().all().stream())
                .toList();
    }

    /** Returns the calls about one write, which an administrator names. */
    public NamedWrites named() {
        return new NamedWrites(this);
    }

    /** Tries the oldest write of each bucket now, without waiting for its pause. */
    public void retry() {
        queues.values().forEach(BucketQueue::retry);
    }

    public Stats stats() {
        List<PendingWrite> all = pending();
        long oldest = all.stream()
                .mapToLong(write -> write.write().atMillis())
                .min()
                .orElse(clock.millis());
        return new Stats(all.size(), all.stream().mapToLong(PendingWrite::sizeBytes).sum(),
                Math.max(0, clock.millis() - oldest) / 1000.0,
                (int) queues.values().stream().filter(BucketQueue::isStuck).count(),
                counts.atDisk().sum(), counts.atStore().sum(), counts.writtenBytes().sum(),
                counts.failedTries().sum(), counts.waitedTooLong().sum(),
                counts.discarded().sum(), counts.yieldedNanos().sum() / 1e9,
                counts.overShare().sum(), log.stats(), uploads.stats());
    }

    @Override
    public Backend over(Backend store, Authentication authentication, String namespace,
            Rule rule, boolean atDisk) {
        String principal = authentication.principalName();
        boolean isKept = authentication instanceof Authentication.Known known
                && known.key().session() == null && known.key().sessionToken() == null
                && callerOf(principal) != null;
        return new WriteBackBackend(this, store,
                new WriteBackBackend.Writer(principal, namespace, isKept), rule, atDisk);
    }

    /** Returns the identity at the store that outlives a client's key; null for none. */
    private @Nullable Caller callerOf(String principal) {
        Principal found = principals.apply(principal);
        return found == null || found.backend() == null ? null : found.backend().caller();
    }

    DiscardedWrites discards() {
        return discards;
    }

    WriteLog log() {
        return log;
    }

    public OpenUploads uploads() {
        return uploads;
    }

    /** Returns how long a request waits for writes that are pending. */
    Duration patience() {
        return bounds.patience;
    }

    LogRoom room() {
        return room;
    }

    long nowMillis() {
        return clock.millis();
    }

    /** Returns the newest pending write of a key; null for none. */
    @Nullable
    PendingWrite find(PendingName name) {
        return keys.newest(name);
    }

    /** Returns whether a write to the bucket may be acknowledged before the store has it. */
    CompletionStage<Boolean> mayAcknowledge(Backend store, PendingName.Bucket bucket,
            String principal, Caller caller) {
        BucketQueue queue = queues.get(bucket);
        return queue != null && !queue.takesWrites()
                ? CompletableFuture.completedStage(false)
                : probe.isSimple(store, bucket, principal, caller);
    }

    /** Returns null if the log has no room, or the writer's tenant holds its share of it. */
    @Nullable
    LogUpload tryBegin(String principal, long lengthBytes) {
        LogOwner owner = ownerOf(principal);
        LogUpload begun = log.tryBegin(owner, lengthBytes);
        if (begun == null && log.isTooMuch(owner, lengthBytes)) {
            counts.overShare().increment();
        }
        return begun;
    }

    /** Returns whose part of the log a principal's writes take. */
    LogOwner ownerOf(String principal) {
        Principal known = principals.apply(principal);
        return new LogOwner(
                known == null || known.tenant().equals(NO_TENANT)
                        ? "principal " + principal
                        : "tenant " + known.tenant(),
                bounds.tenantPercent);
    }

    private void own(LogRecord.Head head, List<LogEntry> entries) {
        String owner = ownerOf(head.principal()).name();
        entries.forEach(entry -> log.own(entry, owner));
    }

    private void refusedPart(boolean isOverShare) {
        uploads.refusedPart();
        if (isOverShare) {
            counts.overShare().increment();
        }
    }

    /** Sends a request that may change whether a bucket's writes may be acknowledged early. */
    CompletionStage<BackendResponse> changing(PendingName.Bucket bucket,
            Supplier<CompletionStage<BackendResponse>> request) {
        return probe.changing(bucket, request);
    }

    /**
     * Makes an object safe. The stage completes when it may be acknowledged. After a failure that
     * leaves open whether a restart finds the object, its bucket takes no change until then.
     *
     * @param finished its bytes, which the log takes; the caller closes the upload
     */
    CompletionStage<?> acknowledge(LogRecord.Head head, String etag, LogUpload finished) {
        return acknowledge(new LogRecord.Write(head, etag, clock.millis()), finished, List.of(),
                List.of());
    }

    /**
     * Makes an object of parts safe, as the other method does.
     *
     * @param replaced entries that it takes the place of
     */
    CompletionStage<?> acknowledge(LogRecord.Write write, List<LogPart> parts,
            List<LogEntry> replaced) {
        return acknowledge(write, null, parts, replaced);
    }

    private CompletionStage<?> acknowledge(LogRecord.Write write, @Nullable LogUpload finished,
            List<LogPart> parts, List<LogEntry> replaced) {
        boolean hadFailed = log.stats().failed();
        return log.commit(List.of(new WriteLog.Draft(
                ownerOf(write.head().principal()).name(), finished, write.encoded())), replaced,
                added -> {
                    PendingWrite pending = new PendingWrite(write, added.getFirst(), parts,
                            new StoreUpload(), writes);
                    keys.add(pending);
                    discards.acknowledged(pending);
                    enqueue(pending);
                    counts.atDisk().increment();
                }).whenComplete((_, failure) -> {
                    // A full or closed log gives no cause, and takes nothing.
                    if (!hadFailed && failure != null
                            && Turn.causeOf(failure).getCause() != null) {
                        queue(write.head().name().inBucket()).seal();
                    }
                });
    }

    /**
     * Discards a pending write. The stage completes once a restart finds it no more.
     *
     * @return null if a try of the write is under way, or it is not pending any more
     */
    @Nullable
    CompletionStage<?> tryDiscard(PendingWrite write) {
        CompletionStage<?> discarded = queue(write.name().inBucket()).tryDiscard(write,
                () -> noteDiscard(write));
        return discarded == null ? null : discarded.whenComplete((_, failure) -> {
            if (failure != null) {
                write.leaving(false);
                discards.remove(write);
            } else {
                counts.discarded().increment();
            }
        });
    }

    /** Notes what a flush must not call stored: nothing where its writer wrote the key again. */
    private void noteDiscard(PendingWrite write) {
        write.leaving(true);
        PendingWrite newest = find(write.name());
        boolean isReplaced = newest != null && !newest.equals(write)
                && newest.isOf(write.write().head().principal());
        if (!isReplaced) {
            discards.add(write);
        }
    }

    /** Discards an open upload and its parts; fails if it has ended. */
    CompletionStage<?> discard(OpenUpload upload) {
        return uploads.abort(upload).thenAccept(_ -> counts.discarded().increment());
    }

    void acknowledgedAtStore() {
        counts.atStore().increment();
    }

    private void enqueue(PendingWrite write) {
        queue(write.name().inBucket()).add(write);
        completed(write);
    }

    private BucketQueue queue(PendingName.Bucket bucket) {
        return queues.computeIfAbsent(bucket, _ -> new BucketQueue(steps, nanoClock));
    }

    /**
     * Sends a request that changes something of a bucket once the store has the writes before it.
     * The writes after it wait for its answer. It fails after a time, and is then never sent. It
     * fails likewise if what it copies is discarded meanwhile.
     */
    CompletionStage<BackendResponse> inTurn(PendingName.Bucket bucket, BucketChange change,
            Supplier<CompletionStage<BackendResponse>> request) {
        // Without such a rule nothing will be pending: a queue for each bucket would add up.
        BucketQueue queue = change.atDisk() ? queue(bucket) : queues.get(bucket);
        if (queue == null) {
            return request.get();
        }
        if (queue.tryPass(change.key(), change.deletes())) {
            return passing(queue, change, request);
        }
        Turn turn = new Turn(change.key(), change.source(), request);
        queue.add(turn);
        // A thread of the JDK: it outlives this object, and a waiting request must end.
        CompletableFuture.delayedExecutor(bounds.patience.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> {
                    if (queue.leave(turn)) {
                        turn.refuse(waitedTooLong());
                    }
                });
        return turn.answer();
    }

    private static CompletionStage<BackendResponse> passing(BucketQueue queue, BucketChange change,
            Supplier<CompletionStage<BackendResponse>> request) {
        return Turn.sent(request).whenComplete((answer, failure) -> {
            if (Turn.isUnclear(answer, failure)) {
                // Many keys are not for a store's thread.
                var _ = Thread.startVirtualThread(
                        () -> queue.passed(change.key(), change.keys().get()));
            } else {
                queue.passed(change.key(), Set.of());
            }
        });
    }

    private S3Refusal waitedTooLong() {
        counts.waitedTooLong().increment();
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                "Objects of this bucket were acknowledged at the gateway's disk, and the store does"
                        + " not have them yet: try again later.");
    }

    /** Completes when the store has all of a bucket's writes up to now; fails after a time. */
    CompletionStage<@Nullable Void> settled(PendingName.Bucket bucket) {
        BucketQueue queue = queues.get(bucket);
        PendingWrite last = queue == null ? null : queue.last();
        return last == null ? CompletableFuture.completedStage(null) : settled(last);
    }

    /** Completes when the store has a key's newest write and its whole bucket's up to now. */
    CompletionStage<@Nullable Void> settledWithBucket(PendingName name) {
        return settled(name).thenCompose(_ -> settled(name.inBucket()));
    }

    /** Completes when the store has the newest pending write of a key; fails after a time. */
    CompletionStage<@Nullable Void> settled(PendingName name) {
        PendingWrite newestOfKey = find(name);
        return newestOfKey == null
                ? CompletableFuture.completedStage(null)
                : settled(newestOfKey);
    }

    /** Completes when the store has the write, and what was acknowledged before it. */
    CompletionStage<@Nullable Void> settled(PendingWrite last) {
        CompletableFuture<@Nullable Void> written = last.written().toCompletableFuture();
        CompletableFuture<@Nullable Void> timeIsOver = new CompletableFuture<@Nullable Void>()
                .orTimeout(bounds.patience.toMillis(), TimeUnit.MILLISECONDS);
        // Any of both: a write that is stuck for days keeps nothing of a request that gave up.
        return CompletableFuture.anyOf(written, timeIsOver)
                .whenComplete((_, _) -> timeIsOver.complete(null))
                .<@Nullable Void>thenApply(_ -> null)
                .exceptionallyCompose(failure -> CompletableFuture.failedStage(
                        Turn.causeOf(failure) instanceof S3Refusal discarded
                                ? discarded
                                : waitedTooLong()));
    }

    /**
     * Completes when the stores have everything that was acknowledged before. Fails with
     * {@code S3Refusal} at the same time if any of that was discarded meanwhile.
     */
    public CompletionStage<?> flush() {
        return CompletableFuture.allOf(pending().stream()
                .map(write -> write.written().toCompletableFuture())
                .toArray(CompletableFuture[]::new));
    }

    /** Stops writing to the stores; what is pending stays in the log. */
    @Override
    public void close() {
        timer.shutdownNow();
        queues.values().forEach(BucketQueue::close);
        log.close();
    }
}
