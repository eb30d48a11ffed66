package io.railhead.gateway.object.writeback;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * The body of one PutObject on its way into the log. The gateway has verified every checksum before
 * the body completes. The publisher's and the log's threads, one call at a time.
 */
final class DiskPut implements Subscriber<ByteBuffer> {
    private final WriteBack writeBack;
    private final LogRecord.Head head;
    private final Payload payload;
    private final LogUpload upload;
    private final CompletableFuture<BackendResponse> answer = new CompletableFuture<>();
    private volatile @Nullable Subscription upstream;
    /** The last piece that was taken: the upload's memory is in use until it is done. */
    private volatile CompletionStage<?> taken = CompletableFuture.completedStage(null);

    DiskPut(WriteBack writeBack, LogRecord.Head head, Payload payload, LogUpload ownedUpload) {
        this.writeBack = writeBack;
        this.head = head;
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

    CompletionStage<BackendResponse> start() {
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
        return answer;
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
        taken.thenCompose(_ -> upload.finish()).whenComplete((_, failure) -> {
            if (failure == null) {
                commit();
            } else {
                fail(failure);
            }
        });
    }

    private void commit() {
        try {
            String etag = '"' + HexFormat.of().formatHex(upload.md5()) + '"';
            Map<String, String> headers = new TreeMap<>(head.headers());
            if (payload instanceof Payload.Stream stream) {
                addSums(stream.trailers(), headers);
            }
            LogRecord.Head whole = new LogRecord.Head(head.principal(), head.namespace(),
                    head.name(), headers);
            writeBack.acknowledge(whole, etag, upload).whenComplete((_, failure) -> {
                if (failure == null) {
                    answer.complete(stored(etag, headers));
                } else {
                    answer.completeExceptionally(refusal(failure));
                }
            });
        } catch (RuntimeException | Error e) {
            fail(e);
            return;
        }
        upload.close();
    }

    private static void addSums(Map<String, Supplier<String>> trailers,
            Map<String, String> headers) {
        trailers.forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (PutHeaders.isSum(lower)) {
                headers.put(lower, value.get());
            }
        });
    }

    private static BackendResponse stored(String etag, Map<String, String> kept) {
        Headers.Builder headers = Headers.builder()
                .add("etag", etag)
                .add("content-length", "0")
                .add(PutHeaders.ACKNOWLEDGED, "disk");
        kept.forEach((name, value) -> {
            if (PutHeaders.isSum(name)) {
                headers.add(name, value);
            }
        });
        return new BackendResponse(200, headers.build(), FixedBody.EMPTY);
    }

    /** Returns what a client is told of a failed write. */
    private static Throwable refusal(Throwable failure) {
        Throwable cause = Turn.causeOf(failure);
        return cause instanceof LogUnusableException || cause instanceof OsException
                ? new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                        "The gateway's write-back log cannot take the object now.")
                : cause;
    }

    private void fail(Throwable cause) {
        // Another upload gets the memory next: no piece may still be copied into it.
        taken.whenComplete((_, _) -> upload.close());
        answer.completeExceptionally(refusal(cause));
    }
}
