package io.railhead.gateway.fill;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Body;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.BodySink;
import io.railhead.backend.Caller;
import io.railhead.backend.ContentRange;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.cache.FillException;
import io.railhead.cache.FillException.Reason;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.gateway.s3.Guard;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ranged GETs of one object under one principal's identity. Each response is checked against the
 * expected version before a byte of it is taken. Any thread.
 */
public final class BackendPageSource implements PageSource {
    private static final Logger LOG = LoggerFactory.getLogger(BackendPageSource.class);

    private final Backend backend;
    private final Caller caller;
    private final Target target;
    private final FetchTurn turn;

    public BackendPageSource(Backend backend, Caller caller, Target target, FetchTurn turn) {
        this.backend = backend;
        this.caller = caller;
        this.target = target;
        this.turn = turn;
    }

    @Override
    public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
        Guard.run(() -> send(version, offset, length, sink), thrown -> sink.fail(failed(thrown)));
    }

    private void send(ObjectVersion version, long offset, long length, Sink sink) {
        backend.fetch(Requests.rangedGet(target, caller, offset, length, version.etag()), turn)
                .whenComplete((answer, failure) -> {
                    if (failure != null) {
                        sink.fail(new FillException(Reason.BACKEND_FAILED,
                                "the backend did not answer", failure));
                        return;
                    }
                    Guard.run(() -> answered(answer, version, offset, length, sink),
                            thrown -> {
                                BodyDrain.discard(answer.body());
                                sink.fail(failed(thrown));
                            });
                });
    }

    private static void answered(BackendResponse answer, ObjectVersion version, long offset,
            long length, Sink sink) {
        FillException mismatch = check(answer, version, offset, length);
        if (mismatch != null) {
            BodyDrain.discard(answer.body());
            sink.fail(mismatch);
        } else {
            pour(answer.body(), sink);
        }
    }

    /** Logs a fault of the gateway's own, and converts it for the waiting readers. */
    private static FillException failed(Throwable thrown) {
        LOG.warn("a store's answer could not be taken into pages", thrown);
        return new FillException(Reason.BACKEND_FAILED, "the answer could not be taken", thrown);
    }

    /** Starts filling pages from a body. */
    public static void pour(Body body, Sink sink) {
        body.pour(new Pages(sink));
    }

    private static @Nullable FillException check(BackendResponse answer, ObjectVersion version,
            long offset,
            long length) {
        return switch (answer.status()) {
            case 206 -> checkPartial(answer, version, offset, length);
            case 200 ->
                new FillException(Reason.BACKEND_FAILED, "the backend ignored the range", null);
            case 401, 403 -> new FillException(Reason.REFUSED, "the backend refused", null);
            case 404 -> new FillException(Reason.NOT_FOUND, "the object is gone", null);
            case 412, 416 ->
                new FillException(Reason.VERSION_CHANGED, "the object has changed", null);
            default -> new FillException(Reason.BACKEND_ERROR,
                    "the backend answered " + answer.status(), null);
        };
    }

    private static @Nullable FillException checkPartial(BackendResponse answer,
            ObjectVersion version, long offset,
            long length) {
        ContentRange range = ContentRange.tryParse(answer.headers().get("content-range"));
        if (range == null || range.first() != offset || range.last() != offset + length - 1) {
            return new FillException(Reason.BACKEND_FAILED, "the backend sent another range", null);
        }
        String versionId = answer.headers().get("x-amz-version-id");
        boolean same = version.etag().equals(answer.headers().get("etag"))
                && range.size() == version.sizeBytes()
                && (versionId == null || version.versionId().isEmpty()
                        || versionId.equals(version.versionId()));
        return same
                ? null
                : new FillException(Reason.VERSION_CHANGED, "the object has changed", null);
    }

    /** A body on its way into pages, whose memory is already reserved. */
    private record Pages(Sink sink) implements BodySink {

        @Override
        public @Nullable ByteBuffer room() {
            return sink.room();
        }

        @Override
        public void landed(int bytes) {
            sink.landed(bytes);
        }

        @Override
        public void write(ByteBuffer bytes) {
            sink.write(bytes);
        }

        @Override
        public void complete() {
            sink.complete();
        }

        @Override
        public void fail(Throwable cause) {
            sink.fail(cause instanceof BackendException
                    ? new FillException(Reason.BACKEND_FAILED, "the backend's body broke off",
                            cause)
                    : failed(cause));
        }
    }
}
