package io.railhead.gateway.object.writeback;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.PercentCodec;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The source of an UploadPartCopy, which is read from the store by the caller's own identity.
 *
 * @param headers its range, and conditions whose failure a store answers as that of a copy
 */
record PartCopy(Target source, Headers headers, BackendRequest request) {
    private static final String RANGE_HEADER = "x-amz-copy-source-range";
    /** The headers of a read, by those of a copy. */
    private static final Map<String, String> OF_A_READ = Map.of(RANGE_HEADER, "Range",
            PutHeaders.COPY_SOURCE + "-if-match", "If-Match",
            PutHeaders.COPY_SOURCE + "-if-unmodified-since", "If-Unmodified-Since");
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d{1,18})-(\\d{1,18})");
    private static final Pattern SOURCE = Pattern
            .compile("/?([^/?%]+)/([^?]+)(?:\\?(versionId=[^&]+))?");

    /** Throws {@code S3Refusal} for a source, a range or a header that is not possible here. */
    static PartCopy of(BackendRequest request) {
        Headers.Builder others = Headers.builder();
        Headers.Builder read = Headers.builder();
        request.headers().forEach((name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            String ofRead = OF_A_READ.get(lower);
            if (ofRead != null) {
                read.add(ofRead, value);
            } else if (!lower.equals(PutHeaders.COPY_SOURCE)) {
                others.add(name, value);
            }
        });
        PutHeaders.requirePart(others.build(), Set.of());
        Matcher source = SOURCE
                .matcher(String.valueOf(request.headers().get(PutHeaders.COPY_SOURCE)));
        String range = request.headers().get(RANGE_HEADER);
        if (!source.matches() || (range != null && !isRange(range))) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT);
        }
        try {
            String key = PercentCodec.encodePath(PercentCodec.decodeName(source.group(2)));
            return new PartCopy(new Target(source.group(1), key, source.group(3)), read.build(),
                    request);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT);
        }
    }

    private static boolean isRange(String range) {
        Matcher numbers = RANGE.matcher(range);
        return numbers.matches()
                && Long.parseLong(numbers.group(1)) <= Long.parseLong(numbers.group(2));
    }

    /**
     * Passes the source's bytes on. A store's refusal is the answer.
     *
     * @param copy takes the bytes, whose length is known; if it throws or fails before it reads
     *            them, they are discarded
     */
    CompletionStage<BackendResponse> from(Backend store,
            Function<Payload, CompletionStage<BackendResponse>> copy) {
        return store.send(Requests.get(source, request.caller(), headers))
                .thenCompose(answer -> answer.isSuccess()
                        ? copied(answer, copy)
                        : CompletableFuture.completedStage(answer));
    }

    private CompletionStage<BackendResponse> copied(BackendResponse answer,
            Function<Payload, CompletionStage<BackendResponse>> copy) {
        String length = answer.headers().get("content-length");
        if (answer.status() != (headers.contains("Range") ? 206 : 200) || length == null) {
            BodyDrain.discard(answer.body());
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "The store behind the gateway did not send the source's range.");
        }
        OnceRead body = new OnceRead(answer.body());
        CompletionStage<BackendResponse> copied;
        try {
            copied = copy.apply(new Payload.Stream(body, Long.parseLong(length),
                    "UNSIGNED-PAYLOAD", Map.of()));
        } catch (RuntimeException | Error e) {
            copied = CompletableFuture.failedStage(e);
        }
        return copied.whenComplete((_, _) -> body.discardUnread());
    }
}
