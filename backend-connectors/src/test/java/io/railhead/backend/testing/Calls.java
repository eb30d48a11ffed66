package io.railhead.backend.testing;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A backend called one request at a time, by one caller, in one bucket. */
public record Calls(Backend backend, @Nullable String bucket, Caller caller) {
    private static final int MAX_BYTES = 64 * 1024 * 1024;
    private static final long PATIENCE_SECONDS = 60;

    /** An answer with its body. */
    public static final class Reply {
        private final int status;
        private final Headers headers;
        private final byte[] body;

        private Reply(int status, Headers headers, byte[] body) {
            this.status = status;
            this.headers = headers;
            this.body = body;
        }

        public int status() {
            return status;
        }

        public Headers headers() {
            return headers;
        }

        public byte[] body() {
            return body;
        }

        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /** A header that must be there. */
        public String header(String name) {
            String value = headers.get(name);
            if (value == null) {
                throw new AssertionError("no " + name + " in " + headers);
            }
            return value;
        }
    }

    public Calls as(Caller other) {
        return new Calls(backend, bucket, other);
    }

    public Target target(String rawKey, @Nullable String rawQuery) {
        return new Target(bucket, rawKey, rawQuery);
    }

    public Reply put(String rawKey, byte[] content) {
        return send(Requests.put(target(rawKey, null), caller, Headers.NONE,
                new Payload.Bytes(ByteBuffer.wrap(content))));
    }

    public Reply get(String rawKey) {
        return send(Requests.get(target(rawKey, null), caller, Headers.NONE));
    }

    public Reply head(String rawKey) {
        return send(Requests.head(target(rawKey, null), caller));
    }

    public Reply range(String rawKey, long offset, long length, @Nullable String ifMatch) {
        return send(Requests.rangedGet(target(rawKey, null), caller, offset, length, ifMatch));
    }

    /** Any request with a small body or none. */
    public Reply call(String method, String rawKey, @Nullable String rawQuery, Headers headers,
            String body) {
        Payload payload = body.isEmpty()
                ? new Payload.Empty()
                : new Payload.Bytes(ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8)));
        return send(new BackendRequest(method, target(rawKey, rawQuery), headers, payload, caller,
                null));
    }

    public Reply send(BackendRequest request) {
        BackendResponse response = await(backend.send(request));
        return new Reply(response.status(), response.headers(),
                await(BodyDrain.collect(response.body(), MAX_BYTES)));
    }

    /** Waits, and throws what the stage failed with. */
    public static <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e);
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
