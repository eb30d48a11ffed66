package io.railhead.gateway.admin;

import io.railhead.cache.ObjectId;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.frontdoor.InternalEndpoint;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.object.read.WarmRead;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /.railhead/warm?bucket=B&key=K}: brings one object into the cache, with the caller's
 * rights and within its limits. The response's last line names the result. Progress lines keep the
 * connection from being idle. Any thread.
 */
public final class PrefetchEndpoint implements InternalEndpoint, WarmRead.Gate {
    private static final long LINE_MILLIS = 5000;

    private final CacheWarming.Services services;
    private final Vertx vertx;
    /** The bytes that are being fetched for all callers, which together must not evict others. */
    private final AtomicLong reservedBytes = new AtomicLong();

    public PrefetchEndpoint(ReadServices reads, Routes routes, AccessControl access) {
        services = new CacheWarming.Services(reads, routes, access);
        vertx = reads.vertx();
    }

    @Override
    public void handle(HttpExchange httpExchange, Authentication.Signed caller, Query query) {
        if (!httpExchange.request().method().name().equals("POST") || caller.presigned()) {
            throw new S3Refusal(S3Error.METHOD_NOT_ALLOWED,
                    "An object is warmed by a POST with a signed header.");
        }
        S3Request request = services.request(caller, httpExchange.asker(caller), address(query),
                Map.of());
        httpExchange.holds(services.reads().runBytes());
        new Answer(httpExchange, request).begin();
    }

    private static Address address(Query query) {
        String bucket = query.get("bucket");
        String key = query.get("key");
        if (bucket == null || key == null || key.isEmpty()) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "bucket and key must name the object to warm.");
        }
        if (!Address.isBucketName(bucket)) {
            throw new S3Refusal(S3Error.INVALID_BUCKET_NAME);
        }
        return Address.ofObject(bucket, key);
    }

    /** One object and its waiting caller. Exchange's event loop only. */
    private final class Answer {
        private final HttpExchange httpExchange;
        private final WarmRead read;
        private @Nullable HttpServerResponse begun;
        private long timer;

        Answer(HttpExchange httpExchange, S3Request request) {
            this.httpExchange = httpExchange;
            read = new WarmRead(services.reads(), request,
                    ((VertxInternal) vertx).createEventLoopContext(), PrefetchEndpoint.this,
                    false, (outcome, bytes, detail) -> httpExchange.executor()
                            .execute(() -> end(outcome, bytes, detail)));
        }

        void begin() {
            timer = vertx.setPeriodic(LINE_MILLIS,
                    _ -> httpExchange.executor().execute(this::line));
            httpExchange.onClosed(() -> {
                vertx.cancelTimer(timer);
                read.cancel();
            });
            read.start(-1);
        }

        private void line() {
            if (!httpExchange.isOver() && !head().writeQueueFull()) {
                head().write(JsonObject.of("state", "running").encode() + "\n");
            }
        }

        private void end(WarmRead.Outcome outcome, long bytes, String detail) {
            vertx.cancelTimer(timer);
            if (httpExchange.isOver()) {
                return;
            }
            head().end(Buffer.buffer(JsonObject.of("state",
                    outcome.name().toLowerCase(Locale.ROOT), "bytes", bytes, "reason", detail)
                    .encode() + "\n"));
        }

        private HttpServerResponse head() {
            HttpServerResponse response = begun;
            if (response == null) {
                response = httpExchange.answer(200)
                        .putHeader("content-type", "application/x-ndjson")
                        .putHeader("cache-control", "no-store");
                httpExchange.unsized();
                begun = response;
            }
            return response;
        }
    }

    @Override
    public boolean tryReserve(ObjectId id, long bytes) {
        boolean room = services.reads()
                .cache()
                .control()
                .hasRoomFor(id, reservedBytes.addAndGet(bytes) + services.reads().runBytes());
        if (!room) {
            reservedBytes.addAndGet(-bytes);
        }
        return room;
    }

    @Override
    public void release(long bytes) {
        reservedBytes.addAndGet(-bytes);
    }

    @Override
    public void kept(long bytes) {
        throw new IllegalStateException("a prefetch is for memory");
    }

    /** Runs at once: admission already limits the caller's requests under way. */
    @Override
    public void whenAllowed(long bytes, Runnable then) {
        then.run();
    }
}
