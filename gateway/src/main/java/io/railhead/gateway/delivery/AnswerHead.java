package io.railhead.gateway.delivery;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The head of a response with an object, made from its metadata. */
public final class AnswerHead {
    /** Query parameters that override a header of the response. */
    private static final Map<String, String> OVERRIDES = Map.of("response-content-type",
            "content-type",
            "response-content-language", "content-language", "response-expires", "expires",
            "response-cache-control",
            "cache-control", "response-content-disposition", "content-disposition",
            "response-content-encoding",
            "content-encoding");

    private static final CharSequence X_CACHE = HttpHeaders.createOptimized("x-cache");
    private static final CharSequence CONTENT_RANGE = HttpHeaders
            .createOptimized("content-range");
    private static final CharSequence BYTES = HttpHeaders.createOptimized("bytes");

    private AnswerHead() {}

    public static boolean isOverride(String queryParameter) {
        return OVERRIDES.containsKey(queryParameter);
    }

    /** Throws {@code S3Refusal} if an override is no valid header value. */
    public static void requireSendableOverrides(S3Request request) {
        if (request.query().isEmpty()) {
            return;
        }
        OVERRIDES.forEach((parameter, header) -> {
            String value = override(request, parameter);
            if (value != null && value.chars().anyMatch(AnswerHead::isControl)) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        parameter + " must not hold control characters.");
            }
        });
    }

    private static boolean isControl(int character) {
        return (character < ' ' && character != '\t') || character == 0x7f;
    }

    /** Writes status and headers of a response whose body is the planned bytes. */
    public static HttpServerResponse write(HttpExchange httpExchange, S3Request request,
            ReadPlan plan,
            CacheResult result) {
        HttpServerResponse response = httpExchange.answer(plan.status());
        forEach(request, plan, result, response::putHeader);
        return response;
    }

    /** Visits the same headers, without those that every response has. */
    public static void forEach(S3Request request, ReadPlan plan, CacheResult result,
            BiConsumer<CharSequence, CharSequence> visitor) {
        forEachOfObject(request, plan, result, visitor);
        visitor.accept(HttpHeaders.CONTENT_LENGTH, Long.toString(plan.length()));
    }

    /**
     * Writes the same head without Content-Length: there is no body, or the bytes go into memory.
     */
    public static HttpServerResponse writeObject(HttpExchange httpExchange, S3Request request,
            ReadPlan plan,
            CacheResult result) {
        HttpServerResponse response = httpExchange.answer(plan.status());
        forEachOfObject(request, plan, result, response::putHeader);
        return response;
    }

    /** Visits the object's headers; overrides come last and replace earlier values. */
    private static void forEachOfObject(S3Request request, ReadPlan plan, CacheResult result,
            BiConsumer<CharSequence, CharSequence> visitor) {
        ObjectHeaders.forEach(plan.metadata(), checksums(request, plan), visitor);
        visitor.accept(HttpHeaders.ACCEPT_RANGES, BYTES);
        visitor.accept(X_CACHE, result.name());
        if (plan.status() == 206) {
            visitor.accept(CONTENT_RANGE,
                    "bytes " + plan.from() + "-" + (plan.to() - 1) + "/" + plan.sizeBytes());
        }
        if (!request.query().isEmpty()) {
            OVERRIDES.forEach((parameter, header) -> {
                String value = override(request, parameter);
                if (value != null) {
                    visitor.accept(header, value);
                }
            });
        }
    }

    /** Returns an override as a header's value: each char is one byte of UTF-8, as S3 sends it. */
    private static @Nullable String override(S3Request request, String parameter) {
        String value = request.query().getSpaced(parameter);
        return value == null ? null : new String(value.getBytes(UTF_8), ISO_8859_1);
    }

    private static ObjectHeaders.Checksums checksums(S3Request request, ReadPlan plan) {
        boolean whole = plan.length() == plan.sizeBytes();
        boolean knownOfBytes = request.method().equals("HEAD")
                || !ObjectHeaders.hasUncertainChecksums(plan.metadata());
        return whole && wantsChecksums(request) && knownOfBytes
                ? ObjectHeaders.Checksums.SHOWN
                : ObjectHeaders.Checksums.HIDDEN;
    }

    public static boolean wantsChecksums(S3Request request) {
        return "ENABLED".equalsIgnoreCase(request.header("x-amz-checksum-mode"));
    }
}
