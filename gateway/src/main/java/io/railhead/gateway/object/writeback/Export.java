package io.railhead.gateway.object.writeback;

import io.railhead.cache.writeback.LogReader;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A pending object, or the parts of an open upload, for an administrator who stores it elsewhere.
 * Its room in the log stays taken until it is closed, and its bytes can be read though it is
 * discarded meanwhile. One thread at a time.
 */
public final class Export implements AutoCloseable {
    private final LogRecord.Head head;
    private final String etag;
    private final Instant since;
    private final List<LogPart> parts;
    private final LogReader reader;
    private CompletableFuture<ByteBuffer> last = CompletableFuture.completedFuture(
            ByteBuffer.allocate(0));

    /** A part, whose bytes follow those of the part before. */
    public record Part(int number, long bytes, String etag) {}

    /** @param etag in quotes; "" for an open upload */
    Export(LogRecord.Head head, String etag, Instant since, List<LogPart> parts,
            LogReader ownedReader) {
        this.head = head;
        this.etag = etag;
        this.since = since;
        this.parts = parts;
        this.reader = ownedReader;
    }

    public String backend() {
        return head.name().backend();
    }

    public String bucket() {
        return head.name().bucket();
    }

    /** Returns the key, decoded. */
    public String key() {
        return head.name().key();
    }

    public String principal() {
        return head.principal();
    }

    /** Returns the ETag in quotes; "" for an open upload. */
    public String etag() {
        return etag;
    }

    public Instant since() {
        return since;
    }

    /** Returns the headers of the upload, their names in lower case. */
    public Map<String, String> headers() {
        return new TreeMap<>(head.headers());
    }

    /** Returns the parts in their order; none of an object that was uploaded whole. */
    public List<Part> parts() {
        return parts.stream()
                .map(part -> new Part(part.number(), part.sizeBytes(), part.etag()))
                .toList();
    }

    public long lengthBytes() {
        return reader.lengthBytes();
    }

    /**
     * Reads some bytes from a place on, at least one. Blocks; the buffer is the caller's. Throws
     * {@code S3Refusal} if they are not those that were acknowledged.
     */
    public ByteBuffer read(long from) throws InterruptedException {
        last = reader.read(from, lengthBytes() - from).toCompletableFuture();
        try {
            return last.get();
        } catch (ExecutionException e) {
            throw new S3Refusal(S3Error.INTERNAL_ERROR, "The log's bytes from " + from
                    + " on cannot be read: " + Turn.causeOf(e.getCause()).getMessage());
        }
    }

    /** Frees the room, once a read that was interrupted has ended. */
    @Override
    public void close() {
        var _ = last.whenComplete((_, _) -> reader.close());
    }
}
