package io.railhead.gateway.object.writeback;

import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogReader;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An acknowledged object that the store does not have yet. Any thread.
 *
 * <p> While it is pending its write is open for the cache: every read of the key asks the backend,
 * so that no mode of freshness serves what was there before.
 */
final class PendingWrite implements BucketQueue.Entry {
    private final LogRecord.Write write;
    private final LogEntry entry;
    private final List<LogPart> parts;
    private final StoreUpload storeUpload;
    private final Writes.Write open;
    private final CompletableFuture<@Nullable Void> written = new CompletableFuture<>();
    private volatile String problem = "";
    private volatile boolean leaving;

    /** @param entry has the bytes */
    PendingWrite(LogRecord.Write write, LogEntry entry, Writes writes) {
        this(write, entry, List.of(), new StoreUpload(), writes);
    }

    /**
     * @param entry has no bytes if there are parts
     * @param parts in their order; none for an object that is uploaded whole
     */
    PendingWrite(LogRecord.Write write, LogEntry entry, List<LogPart> parts,
            StoreUpload storeUpload, Writes writes) {
        this.write = write;
        this.entry = entry;
        this.parts = List.copyOf(parts);
        this.storeUpload = storeUpload;
        this.open = writes.begin(object());
    }

    private ObjectId object() {
        PendingName name = name();
        return new ObjectId(name.backend(), write.head().namespace(), name.bucket(), name.key(),
                null);
    }

    long sequence() {
        return entry.id();
    }

    @Override
    public String key() {
        return name().key();
    }

    LogRecord.Write write() {
        return write;
    }

    PendingName name() {
        return write.head().name();
    }

    long sizeBytes() {
        return entry.lengthBytes() + OpenUploads.bytesOf(parts);
    }

    List<LogPart> parts() {
        return parts;
    }

    StoreUpload storeUpload() {
        return storeUpload;
    }

    /** Returns the entries that go when the store has the object. */
    List<LogEntry> entries() {
        List<LogEntry> all = new ArrayList<>(List.of(entry));
        parts.forEach(part -> all.add(part.entry()));
        all.addAll(storeUpload.entries());
        return all;
    }

    boolean isOf(String principal) {
        return write.head().principal().equals(principal);
    }

    /** Returns the reason why the store has refused it for now; "" for none. */
    String problem() {
        return problem;
    }

    void problem(String reason) {
        problem = reason;
    }

    /** Returns whether an administrator is discarding it. */
    boolean isLeaving() {
        return leaving;
    }

    void leaving(boolean isDiscarded) {
        leaving = isDiscarded;
    }

    /** Returns its name for administrators. It is unlike that of any other write of the log. */
    String id() {
        return entry.id() + "-" + write.atMillis();
    }

    /** Returns the stage that completes when the store has it, and fails if it is discarded. */
    CompletionStage<@Nullable Void> written() {
        return written;
    }

    /**
     * Ends being pending, once the log has forgotten it for good.
     *
     * @param outcome unknown if an earlier try may still reach the store
     */
    void end(WriteOutcome outcome) {
        open.end(outcome);
        written.complete(null);
    }

    /**
     * Ends being pending without the store, once the log has forgotten it for good. Cached pages of
     * the key are evicted, since its writer has read this version.
     */
    void discarded(WriteOutcome outcome) {
        open.end(outcome);
        written.completeExceptionally(refusedAsDiscarded());
    }

    static S3Refusal refusedAsDiscarded() {
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                "An administrator has discarded an object that this request waited for: the store"
                        + " does not get it.");
    }

    /** Returns what a HEAD says. */
    ObjectMetadata metadata() {
        Map<String, String> headers = PutHeaders.ofObject(write.head().headers());
        headers.putIfAbsent("content-type", "binary/octet-stream");
        headers.put("etag", write.etag());
        headers.put("last-modified", HttpDate.text(Instant.ofEpochMilli(write.atMillis())));
        if (headers.keySet().stream().anyMatch(PutHeaders::isSum)) {
            headers.put("x-amz-checksum-type", write.isMultipart() ? "COMPOSITE" : "FULL_OBJECT");
        }
        return ObjectHeaders.cacheOnly(
                new ObjectVersion(object(), write.etag(), "", sizeBytes()), headers,
                new ObjectHeaders.Moment(0, 0));
    }

    /** Opens its bytes for reading; null if it is no longer pending. */
    @Nullable
    LogReader tryRead(WriteLog log) {
        return log.tryRead(write.isMultipart()
                ? parts.stream().map(LogPart::entry).toList()
                : List.of(entry));
    }
}
