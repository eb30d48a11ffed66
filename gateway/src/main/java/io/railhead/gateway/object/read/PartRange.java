package io.railhead.gateway.object.read;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.RequestHead;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the byte range of a part, which only the store knows. A GET by {@code partNumber} becomes a
 * ranged GET, whose length suits the client's memory.
 */
final class PartRange {
    private static final String PARAMETER = "partNumber";
    private static final Pattern RANGE = Pattern.compile("bytes (\\d{1,18}-\\d{1,18})/\\d{1,18}");
    private static final Pattern LENGTH = Pattern.compile("\\d{1,18}");

    private PartRange() {}

    static boolean isAsked(S3Request request) {
        return request.query().has(PARAMETER) && request.header("range") == null;
    }

    /** The receiver of the result, on the exchange's executor; exactly one call. */
    interface Found {

        /** Takes the request for the same bytes by range, of the version that has this part. */
        void at(S3Request ranged);

        /** Takes the case that the store refuses or does not tell the range. */
        void unknown();
    }

    static void find(HttpExchange httpExchange, S3Request request, Found found) {
        BackendRequest head = new BackendRequest("HEAD", request.target(),
                ForwardedHeaders.toBackend(request.headers()),
                new Payload.Empty(), request.caller(), null);
        request.store()
                .send(head)
                .whenComplete(StoreAnswers.to(httpExchange, (answer, failure) -> {
                    S3Request ranged = failure == null
                            ? ranged(httpExchange, request, answer)
                            : null;
                    if (ranged == null) {
                        found.unknown();
                    } else {
                        found.at(ranged);
                    }
                }));
    }

    private static @Nullable S3Request ranged(HttpExchange httpExchange, S3Request request,
            BackendResponse answer) {
        BodyDrain.discard(answer.body());
        String etag = answer.headers().get("etag");
        String range = answer.isSuccess() ? range(request, answer.headers()) : null;
        if (etag == null || range == null) {
            return null;
        }
        String parts = answer.headers().get("x-amz-mp-parts-count");
        if (parts != null) {
            httpExchange.request().response().putHeader("x-amz-mp-parts-count", parts);
        }
        String version = request.query().get("versionId");
        RequestHead head = request.head();
        return new S3Request(
                new RequestHead(head.method(), head.rawPath(), head.rawQuery(),
                        head.headers()
                                .toBuilder()
                                .set("Range", "bytes=" + range)
                                .set("If-Match", etag)
                                .build()),
                request.address(),
                Query.of(version == null ? Map.of() : Map.of("versionId", version)),
                request.authentication(), request.asker(), request.route());
    }

    private static @Nullable String range(S3Request request, Headers answer) {
        String told = answer.get("content-range");
        if (told != null) {
            Matcher matcher = RANGE.matcher(told);
            return matcher.matches() ? matcher.group(1) : null;
        }
        // For an object that was not uploaded in parts, some stores send its length only.
        String length = answer.get("content-length");
        boolean isWhole = "1".equals(request.query().get(PARAMETER)) && length != null
                && LENGTH.matcher(length).matches() && !answer.contains("x-amz-mp-parts-count");
        return isWhole && !"0".equals(length) ? "0-" + (Long.parseLong(length) - 1) : null;
    }
}
