package io.railhead.gateway.object.writeback;

import io.railhead.backend.FixedBody;
import io.railhead.backend.Payload;
import io.railhead.cache.writeback.LogUnusableException;
import io.railhead.cache.writeback.LogUpload;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.os.OsException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * The body of an object or a part on its way into the log. The gateway has verified every checksum
 * before the body completes. The publisher's and the log's threads, one call at a time.
 */
final class DiskBody implements Subscriber<ByteBuffer> {
    private final Payload payload;
    private final LogUpload upload;
    private final CompletableFuture<Received> whole = new CompletableFuture<>();
    private volatile @Nullable Subscription upstream;
    /** The last piece that was taken: the upload's memory is in use until it is done. */
    private volatile CompletionStage<?> taken = CompletableFuture.completedStage(null);

    /**
     * A body that is in the log's file, though not flushed.
     *
     * @param etag its MD5 in quotes
     * @param trailers its checksums that came behind it, by headers' names in lower case
     */
    record Received(LogUpload upload, String etag, Map<String, String> trailers) {}

    private DiskBody(Payload payload, LogUpload ownedUpload) {
        this.payload = payload;
        this.upload = ownedUpload;
    }

    /** Returns the length of a body; -1 if it is unknown. */
    static long lengthBytes(Payload payload) {
        return switch (payload) {
            case Payload.Empty _ -> 0;
            case Payload.Bytes(ByteBuffer content) -> content.remaining();
            case Payload.Stream stream -> stream.lengthBytes();
        };
    }

    /**
     * Takes a body into the log, then commits it. A failure of the log fails the stage with
     * {@code S3Refusal}.
     *
     * @param commit takes the upload over, and closes it on every path
     */
    static <T> CompletionStage<T> take(Payload payload, LogUpload ownedUpload,
            Function<Received, CompletionStage<T>> commit) {
        return new DiskBody(payload, ownedUpload).start()
                .thenCompose(commit)
                .exceptionallyCompose(failure -> CompletableFuture.failedStage(refusal(failure)));
    }

    private CompletionStage<Received> start() {
        Publisher<ByteBuffer> body = switch (payload) {
            case Payload.Empty _ -> FixedBody.EMPTY;
            case Payload.Bytes(ByteBuffer content) -> new FixedBody(content);
            case Payload.Stream stream -> stream.body();
        };
        try {
            body.subscribe(this);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        return whole;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        upstream = subscription;
        subscription.request(1);
    }

    @Override
    public void onNext(ByteBuffer bytes) {
        CompletionStage<?> now = upload.take(bytes);
        taken = now;
        now.whenComplete((_, failure) -> {
            Subscription source = upstream;
            if (failure != null) {
                if (source != null) {
                    source.cancel();
                }
                fail(failure);
            } else if (source != null) {
                source.request(1);
            }
        });
    }

    @Override
    public void onError(Throwable cause) {
        fail(cause);
    }

    @Override
    public void onComplete() {
        // The end may come while a slow disk still takes the last piece.
        taken.thenCompose(_ -> upload.finish())
                .thenApply(_ -> new Received(upload,
                        '"' + HexFormat.of().formatHex(upload.md5()) + '"', trailers()))
                .whenComplete((received, failure) -> {
                    if (failure == null) {
                        whole.complete(received);
                    } else {
                        fail(failure);
                    }
                });
    }

    private Map<String, String> trailers() {
        Map<String, String> sums = new TreeMap<>();
        if (payload instanceof Payload.Stream stream) {
            stream.trailers().forEach((name, value) -> {
                String lower = name.toLowerCase(Locale.ROOT);
                if (PutHeaders.isSum(lower)) {
                    sums.put(lower, value.get());
                }
            });
        }
        return sums;
    }

    /** Returns what a client is told of a failed write. */
    static Throwable refusal(Throwable failure) {
        Throwable cause = Turn.causeOf(failure);
        return cause instanceof LogUnusableException || cause instanceof OsException
                ? new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                        "The gateway's write-back log cannot take the object now.")
                : cause;
    }

    private void fail(Throwable cause) {
        // Another upload gets the memory next: no piece may still be copied into it.
        taken.whenComplete((_, _) -> upload.close());
        whole.completeExceptionally(cause);
    }
}
