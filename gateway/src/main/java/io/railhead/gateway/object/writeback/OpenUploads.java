package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The multipart uploads whose parts are in the log: those that are open, and the last that were
 * completed. Any thread; nothing blocks.
 */
public final class OpenUploads {
    /** An upload without a part for so long ends. */
    static final Duration LONGEST_PAUSE = Duration.ofHours(24);
    private static final Logger LOG = LoggerFactory.getLogger(OpenUploads.class);
    /** Begins each id, so that a restart knows it for its own. No store has such ids. */
    private static final String PREFIX = "railhead-disk-";
    private static final int ID_BYTES = 18;
    private static final int MOST_COMPLETED = 10_000;
    /** One principal's uploads must leave room in the journal for others' writes. */
    static final int MOST_OF_ONE = 1000;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final WriteLog log;
    private final InstantSource clock;
    private final ConcurrentMap<String, OpenUpload> open = new ConcurrentHashMap<>();
    /** The completed ones, whose clients may ask again; guarded by itself. */
    private final Map<String, LogRecord.Write> completed = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, LogRecord.Write> eldest) {
            return size() > MOST_COMPLETED;
        }
    };
    private final LongAdder abandoned = new LongAdder();
    private final LongAdder refusedParts = new LongAdder();

    /** The state now, for metrics. */
    public record Stats(int open, long openBytes, long abandoned, long refusedParts) {}

    /** One open upload, for an administrator. */
    public record Open(String id, String backend, String bucket, String key, String principal,
            int parts, long bytes, Instant since) {}

    OpenUploads(WriteLog log, InstantSource clock) {
        this.log = log;
        this.clock = clock;
    }

    /** Takes up an upload that the log holds. */
    void recover(OpenUpload upload) {
        upload.takenUp(clock.millis());
        open.put(upload.id(), upload);
    }

    static boolean isOurs(@Nullable String id) {
        return id != null && id.startsWith(PREFIX);
    }

    /** Returns whether a principal may have one more open upload. */
    boolean mayBegin(String principal) {
        return all().stream()
                .filter(upload -> upload.head().principal().equals(principal))
                .limit(MOST_OF_ONE)
                .count() < MOST_OF_ONE;
    }

    /**
     * Begins an upload; the stage completes once a restart would know it.
     *
     * @param owner the name of whose part of the log it takes
     */
    CompletionStage<OpenUpload> begin(LogRecord.Head head, String owner) {
        byte[] random = new byte[ID_BYTES];
        RANDOM.nextBytes(random);
        String id = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        LogRecord.Upload upload = new LogRecord.Upload(head, id, clock.millis());
        return log.commit(List.of(new WriteLog.Draft(owner, null, upload.encoded())), List.of())
                .thenApply(added -> {
                    OpenUpload begun = new OpenUpload(log, upload, added.getFirst(), List.of());
                    open.put(id, begun);
                    return begun;
                });
    }

    /** Throws {@code S3Refusal} unless the writer has such an open upload of the key. */
    OpenUpload require(String id, String principal, PendingName name) {
        OpenUpload found = open.get(id);
        if (found == null || !isOf(found.head(), principal, name)) {
            throw new S3Refusal(S3Error.NO_SUCH_UPLOAD);
        }
        return found;
    }

    /** Returns the object of an upload that was completed; null if it is not known any more. */
    LogRecord.@Nullable Write findCompleted(String id, String principal, PendingName name) {
        LogRecord.Write found;
        synchronized (completed) {
            found = completed.get(id);
        }
        return found != null && isOf(found.head(), principal, name) ? found : null;
    }

    private static boolean isOf(LogRecord.Head head, String principal, PendingName name) {
        return head.principal().equals(principal)
                && head.name().identity().equals(name.identity());
    }

    /** Notes the end of an upload, before its client is told. */
    void completed(LogRecord.Write write) {
        synchronized (completed) {
            completed.put(write.upload(), write);
        }
        open.remove(write.upload());
    }

    /** Has the completion of a discarded object be answered no more. */
    void forget(LogRecord.Write discarded) {
        synchronized (completed) {
            completed.remove(discarded.upload());
        }
    }

    /** Ends an upload and frees its room. */
    CompletionStage<?> abort(OpenUpload upload) {
        return upload.end(_ -> log.commit(List.of(), upload.entriesBut(List.of())))
                .thenAccept(_ -> open.remove(upload.id()));
    }

    /** Ends the uploads that nobody goes on with. */
    void endAbandoned() {
        long since = clock.millis() - LONGEST_PAUSE.toMillis();
        for (OpenUpload upload : all()) {
            if (upload.isIdleSince(since)) {
                abort(upload).thenAccept(_ -> {
                    abandoned.increment();
                    PendingName name = upload.head().name();
                    LOG.warn("the multipart upload of {}/{} at {} had no part for {} hours: it has"
                            + " ended, and its parts are gone", name.bucket(), name.key(),
                            name.backend(), LONGEST_PAUSE.toHours());
                });
            }
        }
    }

    void refusedPart() {
        refusedParts.increment();
    }

    Collection<OpenUpload> all() {
        return open.values();
    }

    boolean hasOpen(PendingName.Bucket bucket) {
        return all().stream().anyMatch(upload -> upload.head().name().inBucket().equals(bucket));
    }

    /** Returns open uploads, the oldest first. */
    public List<Open> list(int most) {
        return all().stream()
                .sorted(Comparator.comparingLong(OpenUpload::atMillis))
                .limit(most)
                .map(upload -> {
                    PendingName name = upload.head().name();
                    List<LogPart> parts = upload.parts();
                    return new Open(upload.id(), name.backend(), name.bucket(), name.key(),
                            upload.head().principal(), parts.size(), bytesOf(parts),
                            Instant.ofEpochMilli(upload.atMillis()));
                })
                .toList();
    }

    static long bytesOf(List<LogPart> parts) {
        return parts.stream().mapToLong(LogPart::sizeBytes).sum();
    }

    public Stats stats() {
        return new Stats(open.size(),
                all().stream().mapToLong(upload -> bytesOf(upload.parts())).sum(), abandoned.sum(),
                refusedParts.sum());
    }
}
