package io.railhead.backend.aws;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.ContentRange;
import io.railhead.backend.FixedBody;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes a store's capabilities by requests. Capabilities that a response does not settle stay as
 * assumed. Blocks: for a virtual thread.
 */
final class CapabilityProbe {
    private static final Logger LOG = LoggerFactory.getLogger(CapabilityProbe.class);
    private static final byte[] CONTENT = "What can this store do?\n"
            .getBytes(StandardCharsets.US_ASCII);
    private static final String NO_SUCH_ETAG = "\"00000000000000000000000000000000\"";
    private static final int MAX_LISTING_BYTES = 1024 * 1024;
    private static final int MAX_BUCKETS = 5;
    private static final Pattern BUCKET = Pattern.compile("<Name>([a-z0-9._-]+)</Name>");
    private static final Pattern OBJECT = Pattern.compile(
            "<Contents>(?:(?!</Contents>).)*?<Key>([A-Za-z0-9._/-]+)</Key>(?:(?!</Contents>).)*?"
                    + "<Size>[1-9]\\d+</Size>",
            Pattern.DOTALL);

    private final Function<BackendRequest, CompletionStage<BackendResponse>> send;
    private final Caller caller;

    CapabilityProbe(Function<BackendRequest, CompletionStage<BackendResponse>> send,
            Caller caller) {
        this.send = send;
        this.caller = caller;
    }

    /** A response with its whole body. */
    private record Answer(int status, Headers headers, ByteBuffer body) {}

    /** Probes by a small object that is written and deleted. */
    Capabilities writing(String bucket) {
        Target target = new Target(bucket, ".railhead-probe/" + UUID.randomUUID(), null);
        try {
            boolean trailers = putWithTrailer(target);
            if (!trailers) {
                putPlainly(target);
            }
            return ask(target, trailers);
        } finally {
            delete(target);
        }
    }

    /**
     * Probes by the first object of more than a few bytes that the caller can list; null if there
     * is none.
     *
     * @param bucket the bucket to search; null for any
     */
    @Nullable
    Capabilities reading(@Nullable String bucket) {
        Target target = bucket == null ? findObject() : findObject(bucket);
        return target == null ? null : ask(target, Capabilities.ASSUMED.trailers());
    }

    private boolean putWithTrailer(Target target) {
        CRC32 crc = new CRC32();
        crc.update(CONTENT);
        byte[] sum = ByteBuffer.allocate(4).putInt((int) crc.getValue()).array();
        Payload payload = new Payload.Stream(new FixedBody(ByteBuffer.wrap(CONTENT)),
                CONTENT.length, "UNSIGNED-PAYLOAD",
                Map.of("x-amz-checksum-crc32", () -> Base64.getEncoder().encodeToString(sum)));
        Headers headers = Headers.builder().add("x-amz-sdk-checksum-algorithm", "CRC32").build();
        Answer put = exchange(Requests.put(target, caller, headers, payload));
        if (!isSuccess(put)) {
            return false;
        }
        // A store without support for the framing stores it as content.
        return String.valueOf(CONTENT.length)
                .equals(exchange(Requests.head(target, caller)).headers().get("Content-Length"));
    }

    private void putPlainly(Target target) {
        Answer put = exchange(Requests.put(target, caller, Headers.NONE,
                new Payload.Bytes(ByteBuffer.wrap(CONTENT))));
        if (!isSuccess(put)) {
            throw new BackendException(BackendException.Reason.UNSENT,
                    "probe object refused with status " + put.status(), null);
        }
    }

    private Capabilities ask(Target target, boolean trailers) {
        Answer head = exchange(Requests.head(target, caller));
        String etag = head.headers().get("ETag");
        if (!isSuccess(head) || etag == null) {
            return Capabilities.ASSUMED;
        }
        boolean checksums = Capabilities.showChecksum(head.headers());
        return new Capabilities(ranges(target), pinning(target), conditionalHead(target, etag),
                checksums, trailers);
    }

    private boolean ranges(Target target) {
        Answer part = exchange(Requests.rangedGet(target, caller, 1, 3, null));
        ContentRange range = ContentRange.tryParse(part.headers().get("Content-Range"));
        return isRefused(part)
                ? Capabilities.ASSUMED.ranges()
                : part.status() == 206 && range != null && range.first() == 1 && range.last() == 3
                        && part.body().remaining() == 3;
    }

    private boolean pinning(Target target) {
        Answer part = exchange(Requests.rangedGet(target, caller, 1, 3, NO_SUCH_ETAG));
        return isRefused(part) ? Capabilities.ASSUMED.ifMatchOnRangedGet() : part.status() == 412;
    }

    private boolean conditionalHead(Target target, String etag) {
        BackendRequest request = new BackendRequest("HEAD", target,
                Headers.builder().add("If-None-Match", etag).build(), new Payload.Empty(), caller,
                null);
        Answer head = exchange(request);
        return isRefused(head) ? Capabilities.ASSUMED.conditionalHead() : head.status() == 304;
    }

    private @Nullable Target findObject() {
        Matcher buckets = BUCKET.matcher(list(new Target(null, "", null)));
        for (int i = 0; i < MAX_BUCKETS && buckets.find(); i++) {
            Target object = findObject(buckets.group(1));
            if (object != null) {
                return object;
            }
        }
        return null;
    }

    private @Nullable Target findObject(String bucket) {
        Matcher object = OBJECT.matcher(list(new Target(bucket, "", "list-type=2&max-keys=100")));
        return object.find() ? new Target(bucket, object.group(1), null) : null;
    }

    private String list(Target target) {
        Answer answer = exchange(Requests.get(target, caller, Headers.NONE));
        return isSuccess(answer) ? StandardCharsets.UTF_8.decode(answer.body()).toString() : "";
    }

    private void delete(Target target) {
        try {
            Answer answer = exchange(Requests.delete(target, caller));
            if (!isSuccess(answer)) {
                LOG.warn("probe object {} stays: status {}", target.rawKey(), answer.status());
            }
        } catch (RuntimeException | Error e) {
            LOG.warn("probe object {} stays", target.rawKey(), e);
        }
    }

    private Answer exchange(BackendRequest request) {
        BackendResponse response = send.apply(request).toCompletableFuture().join();
        byte[] body = BodyDrain.collect(response.body(), MAX_LISTING_BYTES)
                .toCompletableFuture()
                .join();
        return new Answer(response.status(), response.headers(), ByteBuffer.wrap(body));
    }

    private static boolean isSuccess(Answer answer) {
        return answer.status() >= 200 && answer.status() < 300;
    }

    /**
     * Returns whether a response is no evidence: the caller has no right, or the store could not
     * serve it.
     */
    private static boolean isRefused(Answer answer) {
        return answer.status() == 403 || answer.status() == 404 || answer.status() >= 500;
    }
}
