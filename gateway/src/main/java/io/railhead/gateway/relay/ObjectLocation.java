package io.railhead.gateway.relay;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.S3Request;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites the location of a written object. A store names it under its own host, which the client
 * never used. Redirections stay unchanged, since they mean another place.
 */
final class ObjectLocation {

    private ObjectLocation() {}

    /** Returns the response with a {@code Location} under the client's own host. */
    static BackendResponse seenByClient(BackendResponse answer, HttpExchange httpExchange,
            S3Request request) {
        String location = answer.headers().get("location");
        String seen = location == null || !answer.isSuccess()
                ? null
                : seen(location, httpExchange.request().scheme(), request);
        return seen == null
                ? answer
                : new BackendResponse(answer.status(),
                        answer.headers().toBuilder().set("Location", seen).build(), answer.body());
    }

    private static @Nullable String seen(String location, @Nullable String scheme,
            S3Request request) {
        String bucket = request.address().bucket();
        String host = request.header("host");
        URI stored = parsed(location);
        if (request.isPassedThrough() || bucket == null || host == null || stored == null
                || stored.getRawAuthority() == null) {
            return null;
        }
        String path = stored.getRawPath();
        String inPath = '/' + bucket + '/';
        String key;
        if (path.startsWith(inPath)) {
            key = path.substring(inPath.length());
        } else if (stored.getRawAuthority().startsWith(bucket + '.')) {
            key = path.substring(Math.min(1, path.length()));
        } else {
            return null;
        }
        boolean pathStyle = request.address()
                .equals(Address.of(request.head().rawPath(), null, List.of()));
        return scheme + "://" + host + (pathStyle ? inPath : "/") + key;
    }

    private static @Nullable URI parsed(String location) {
        try {
            return URI.create(location);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
