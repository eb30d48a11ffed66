package io.railhead.gateway.log;

import io.railhead.backend.RedactedQuery;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.protocol.token.Decline;
import java.time.Instant;
import java.util.Locale;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Writes one HTTP request into the access log.
 *
 * @param address null until the path was parsed
 * @param asked null until the request was verified
 * @param errorCode "" if there is none
 * @param rdma the transfer in place of a body; null for HTTP
 */
public record HttpAccess(Talk http, String requestId, @Nullable Address address,
        @Nullable Query query, @Nullable S3Request asked, String errorCode, @Nullable Rdma rdma,
        Times times) {
    private static final String OWN = "/.railhead/";

    /** A request and its response as sent. Header names ignore case. */
    public interface Talk {
        String method();

        String uri();

        @Nullable
        String header(String name);

        /** Returns the peer's address. */
        @Nullable
        String peer();

        /** Returns null without TLS. */
        @Nullable
        SSLSession tls();

        int status();

        @Nullable
        String answerHeader(String name);

        /** Returns the number of bytes of the response's body that were sent. */
        long bodyBytes();
    }

    /** A transfer to or from the client's memory. */
    public record Rdma(String fabric, long bytes) {}

    /**
     * The durations of a request.
     *
     * @param firstByteNanos from the request's head to the response's; -1 without a response
     */
    public record Times(long totalNanos, long firstByteNanos) {}

    public void writeTo(AccessLog log) {
        AccessLine line = new AccessLine();
        // The bucket's owner, which only the store knows, is left out.
        line.none().field(address == null ? null : address.bucket());
        line.time(Instant.now().minusNanos(times.totalNanos));
        line.field(http.peer());
        line.field(asked == null ? null : asked.principal()).field(requestId);
        line.field(operation()).field(address == null ? null : address.rawKey());
        line.quoted(requestLine());
        boolean isAnswered = times.firstByteNanos >= 0;
        line.field(isAnswered ? Integer.toString(http.status()) : null);
        line.field(errorCode).bytes(http.bodyBytes()).bytes(objectBytes());
        line.number(times.totalNanos / 1_000_000);
        line.field(isAnswered ? Long.toString(times.firstByteNanos / 1_000_000) : null);
        line.quoted(http.header("referer")).quoted(http.header("user-agent"));
        line.field(http.answerHeader("x-amz-version-id"));
        line.field(http.answerHeader("x-amz-id-2"));
        security(line);
        // The access point is left out, and the ACL flag, which only the store knows.
        line.none().none();
        extras(line);
        log.write(line);
    }

    private String operation() {
        return operation(http, address, query);
    }

    /** Returns the operation as the access log names it. */
    public static String operation(Talk http, @Nullable Address address, @Nullable Query query) {
        if (address == null || query == null) {
            int mark = http.uri().indexOf('?');
            String path = mark < 0 ? http.uri() : http.uri().substring(0, mark);
            return path.startsWith(OWN)
                    ? "RAILHEAD." + http.method() + '.'
                            + path.substring(OWN.length()).toUpperCase(Locale.ROOT)
                    : "REST." + http.method() + ".UNKNOWN";
        }
        return OperationName.of(http.method(), address, query,
                http.header("x-amz-copy-source") != null);
    }

    /** Returns the request line without its signature, which a reader of the log could use. */
    private String requestLine() {
        String uri = http.uri();
        int mark = uri.indexOf('?');
        String shown = mark < 0
                ? uri
                : uri.substring(0, mark + 1) + RedactedQuery.of(uri.substring(mark + 1));
        return http.method() + " " + shown + " HTTP/1.1";
    }

    private long objectBytes() {
        String range = http.answerHeader("content-range");
        String size = range == null
                ? http.answerHeader("content-length")
                : range.substring(range.lastIndexOf('/') + 1);
        try {
            return size == null || http.status() / 100 != 2 ? 0 : Long.parseLong(size);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private void security(AccessLine line) {
        String authorization = http.header("authorization");
        boolean byQuery = query != null
                && (query.has("X-Amz-Signature") || query.has("Signature"));
        String version = null;
        if (authorization != null) {
            version = authorization.startsWith("AWS4-") ? "SigV4" : "SigV2";
        } else if (byQuery) {
            version = query != null && query.has("Signature") ? "SigV2" : "SigV4";
        }
        SSLSession tls = http.tls();
        line.field(version).field(tls == null ? null : tls.getCipherSuite());
        line.field(authorization != null ? "AuthHeader" : byQuery ? "QueryString" : null);
        line.field(http.header("host"));
        line.field(tls == null ? null : tls.getProtocol().toUpperCase(Locale.ROOT));
    }

    private void extras(AccessLine line) {
        String cache = http.answerHeader("x-cache");
        line.extra("backend", asked == null ? null : asked.route().backend().name());
        line.extra("role_session", asked == null ? null : asked.asker().sessionId());
        line.extra("cache", cache == null ? null : cache.toLowerCase(Locale.ROOT));
        line.extra("transport", rdma == null ? "http" : rdma.fabric);
        line.extra("rdma_bytes", rdma == null ? null : Long.toString(rdma.bytes));
        line.extra("declined", http.answerHeader(Decline.REASON));
        line.extra("us", Long.toString(times.totalNanos / 1000));
        String storeId = http.answerHeader("x-amz-request-id");
        line.extra("store_request", requestId.equals(storeId) ? null : storeId);
    }
}
