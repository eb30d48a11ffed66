package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A multipart upload whose parts are in the log. Parts are committed side by side. A completion or
 * an abort waits for the commits before it, and those behind wait for its end. So the parts that it
 * saw are those that the log has. Any thread; lock order: this, then the log.
 */
final class OpenUpload {
    private final WriteLog log;
    private final LogRecord.Upload upload;
    private final LogEntry entry;
    private final Map<Integer, LogPart> parts = new TreeMap<>(); // guarded by this
    private int arriving; // guarded by this
    private long lastMillis; // guarded by this
    private boolean over; // guarded by this
    private CompletableFuture<?> commits = CompletableFuture.completedFuture(null); // by this
    private CompletableFuture<?> ending = CompletableFuture.completedFuture(null); // by this

    /** @param known the parts that the log has, the newest of each number */
    OpenUpload(WriteLog log, LogRecord.Upload upload, LogEntry entry, List<LogPart> known) {
        this.log = log;
        this.upload = upload;
        this.entry = entry;
        this.lastMillis = upload.atMillis();
        for (LogPart part : known) {
            parts.put(part.number(), part);
            lastMillis = Math.max(lastMillis, part.record().atMillis());
        }
    }

    LogRecord.Head head() {
        return upload.head();
    }

    String id() {
        return upload.id();
    }

    long atMillis() {
        return upload.atMillis();
    }

    /** Returns the name of the checksum header that each part must have; null for none. */
    @Nullable
    String sumHeader() {
        return PutHeaders.sumHeader(head().headers());
    }

    /** Returns the parts now, in their order. */
    synchronized List<LogPart> parts() {
        return List.copyOf(parts.values());
    }

    /** Counts a part on its way; {@link #arrived} must follow. */
    synchronized void arrives() {
        arriving++;
    }

    synchronized void arrived() {
        arriving--;
    }

    /** Counts the time without a part from now on: nobody could send one while no gateway ran. */
    synchronized void takenUp(long nowMillis) {
        lastMillis = Math.max(lastMillis, nowMillis);
    }

    /** Returns whether no part was stored since a moment, and none is on its way. */
    synchronized boolean isIdleSince(long millis) {
        return arriving == 0 && lastMillis < millis;
    }

    private static S3Refusal ended() {
        return new S3Refusal(S3Error.NO_SUCH_UPLOAD);
    }

    /**
     * Makes a part safe, in place of a former one of its number. Closes the upload of its bytes.
     */
    CompletionStage<?> add(LogRecord.Part part, LogUpload ownedFinished) {
        return besideOthers(() -> {
            try (ownedFinished) {
                requireOpen();
                return log.commit(
                        List.of(new WriteLog.Draft(ownedFinished.owner(), ownedFinished,
                                part.encoded())),
                        List.of(), added -> keep(new LogPart(part, added.getFirst())));
            }
        });
    }

    private synchronized void requireOpen() {
        if (over) {
            throw ended();
        }
    }

    private synchronized void keep(LogPart part) {
        LogPart former = parts.put(part.number(), part);
        lastMillis = Math.max(lastMillis, part.record().atMillis());
        if (former != null) {
            // Committed before any completion. A start removes it if a crash comes between.
            var _ = log.commit(List.of(), List.of(former.entry()));
        }
    }

    private synchronized <T> CompletionStage<T> besideOthers(Supplier<CompletionStage<T>> step) {
        CompletableFuture<T> done = ending.thenCompose(_ -> step.get());
        commits = CompletableFuture.allOf(commits, ended(done));
        return done;
    }

    private static CompletableFuture<?> ended(CompletableFuture<?> done) {
        return done.handle((_, _) -> "ended");
    }

    /** Decides about the parts, none of which changes before the stage completes. */
    @FunctionalInterface
    interface End<T> {

        /**
         * @param parts in their order
         * @return completes once the log has recorded the end, or fails and changes nothing
         */
        CompletionStage<T> of(List<LogPart> parts);
    }

    /** Ends the upload, unless the step fails. It fails if the upload has ended before. */
    <T> CompletionStage<T> end(End<T> step) {
        return alone(() -> {
            requireOpen();
            return step.of(parts()).thenApply(result -> {
                synchronized (this) {
                    over = true;
                }
                return result;
            });
        });
    }

    private synchronized <T> CompletionStage<T> alone(Supplier<CompletionStage<T>> step) {
        CompletableFuture<T> done = CompletableFuture.allOf(commits, ending)
                .thenCompose(_ -> step.get());
        ending = ended(done);
        return done;
    }

    /** Returns all entries but those of some parts. */
    List<LogEntry> entriesBut(List<LogPart> kept) {
        List<LogEntry> entries = new ArrayList<>(List.of(entry));
        Set<LogPart> whole = Set.copyOf(kept);
        for (LogPart part : parts()) {
            if (!whole.contains(part)) {
                entries.add(part.entry());
            }
        }
        return entries;
    }
}
