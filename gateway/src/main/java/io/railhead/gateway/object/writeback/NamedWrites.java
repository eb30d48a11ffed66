package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.LogReader;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls about one pending write or open upload, which an administrator names as the list did. So
 * none is about another write than the one he looked at. Any thread; nothing blocks. Refusals are
 * {@code S3Refusal}, thrown or the failure of a stage.
 */
public final class NamedWrites {
    private static final Logger LOG = LoggerFactory.getLogger(NamedWrites.class);

    private final WriteBack all;

    NamedWrites(WriteBack all) {
        this.all = all;
    }

    /**
     * The name of a pending write or open upload.
     *
     * @param key decoded
     * @param id as the list has it
     */
    public record Name(String bucket, String key, String id) {}

    /**
     * One write that the store does not have yet.
     *
     * @param etag in quotes
     * @param since when it was acknowledged
     * @param problem the reason why the store has refused it; "" for none
     */
    public record Pending(String id, String backend, String bucket, String key, String principal,
            String etag, long bytes, Instant since, String problem) {}

    /**
     * The object or open upload that was discarded.
     *
     * @param etag in quotes; "" for an open upload
     * @param storeUpload the multipart upload that was begun at the store, and stays there; "" for
     *            none
     */
    public record Lost(String backend, String principal, String etag, long bytes, Instant since,
            String storeUpload) {}

    /** Returns pending writes, the oldest first. */
    public List<Pending> list(int most) {
        return all.pending()
                .stream()
                .sorted(Comparator.comparingLong(PendingWrite::sequence))
                .limit(most)
                .map(write -> new Pending(write.id(), write.name().backend(),
                        write.name().bucket(), write.name().key(),
                        write.write().head().principal(), write.write().etag(), write.sizeBytes(),
                        since(write), write.problem()))
                .toList();
    }

    private static Instant since(PendingWrite write) {
        return Instant.ofEpochMilli(write.write().atMillis());
    }

    /** Opens the bytes of a pending object, or of an open upload's parts. The caller closes it. */
    public Export export(Name name) {
        PendingWrite write = find(name);
        if (write != null) {
            return new Export(write.write().head(), write.write().etag(), since(write),
                    write.parts(), require(write.tryRead(all.log())));
        }
        OpenUpload upload = require(name);
        List<LogPart> parts = upload.parts();
        List<LogEntry> bytes = parts.stream().map(LogPart::entry).toList();
        return new Export(upload.head(), "", Instant.ofEpochMilli(upload.atMillis()), parts,
                require(all.log().tryRead(bytes)));
    }

    private static LogReader require(@Nullable LogReader reader) {
        if (reader == null) {
            throw conflict("It has just changed, or has reached the store: list again.");
        }
        return reader;
    }

    /**
     * Discards a pending object, which the store never gets, or an open upload. The stage completes
     * once neither a crash nor a restart brings it back. After a failure it is still there.
     */
    public CompletionStage<Lost> discard(Name name) {
        PendingWrite write = find(name);
        return write == null ? discard(name, require(name)) : discard(name, write);
    }

    private CompletionStage<Lost> discard(Name name, PendingWrite write) {
        String left = write.storeUpload().id();
        Lost lost = new Lost(write.name().backend(), write.write().head().principal(),
                write.write().etag(), write.sizeBytes(), since(write), left == null ? "" : left);
        note(name, lost);
        CompletionStage<?> discarded = all.tryDiscard(write);
        if (discarded == null) {
            throw conflict("It is being written to the store now, or has just ended: list again.");
        }
        return ended(discarded, lost);
    }

    private CompletionStage<Lost> discard(Name name, OpenUpload upload) {
        Lost lost = new Lost(upload.head().name().backend(), upload.head().principal(), "",
                OpenUploads.bytesOf(upload.parts()), Instant.ofEpochMilli(upload.atMillis()), "");
        note(name, lost);
        return ended(all.discard(upload), lost);
    }

    /** Leaves a trace before the record: a crash may come between that and the answer. */
    private static void note(Name name, Lost lost) {
        // As JSON, so that no name can imitate another log line.
        LOG.warn("asked to discard what {} wrote at {}, {} bytes: {}", lost.principal(),
                lost.backend(), lost.bytes(), JsonObject.of("bucket", name.bucket(), "key",
                        name.key(), "id", name.id(), "etag", lost.etag()).encode());
    }

    private static CompletionStage<Lost> ended(CompletionStage<?> discarded, Lost lost) {
        return discarded.thenApply(_ -> lost)
                .exceptionallyCompose(failure -> CompletableFuture.failedStage(
                        Turn.causeOf(failure) instanceof S3Refusal refused
                                ? refused
                                : new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                                        "The log cannot record that, so it is still there. A"
                                                + " restart shows whether the log has it.")));
    }

    private @Nullable PendingWrite find(Name name) {
        return all.pending()
                .stream()
                .filter(write -> write.id().equals(name.id)
                        && isNamed(write.write().head(), name))
                .findAny()
                .orElse(null);
    }

    private OpenUpload require(Name name) {
        return all.uploads()
                .all()
                .stream()
                .filter(upload -> upload.id().equals(name.id) && isNamed(upload.head(), name))
                .findAny()
                .orElseThrow(() -> new S3Refusal(S3Error.INVALID_REQUEST,
                        "Nothing pending of this bucket and key has this id: list again.")
                        .withStatus(404));
    }

    private static boolean isNamed(LogRecord.Head head, Name name) {
        return head.name().bucket().equals(name.bucket) && head.name().key().equals(name.key);
    }

    private static S3Refusal conflict(String detail) {
        return new S3Refusal(S3Error.INVALID_REQUEST, detail).withStatus(409);
    }
}
