package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.RequestTarget;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Refuses request heads that another HTTP parser on the way could frame differently (RFC 9112 §3.2
 * and §6). Closes a connection on which such a parser could see the next request elsewhere.
 */
final class FramingCheck {

    private FramingCheck() {}

    static void require(HttpExchange httpExchange) {
        HttpServerRequest request = httpExchange.request();
        String problem = problem(request.headers(), request.version(), request.uri());
        if (problem != null) {
            httpExchange.closeAfterwards();
            throw new S3Refusal(S3Error.BAD_REQUEST, problem);
        }
    }

    /** Returns the problem of a request head; null if there is none. */
    static @Nullable String problem(MultiMap headers, HttpVersion version, String target) {
        if (headers.contains("transfer-encoding")) {
            boolean known = headers.getAll("transfer-encoding").equals(List.of("chunked"))
                    && version == HttpVersion.HTTP_1_1;
            if (!known) {
                return "The only Transfer-Encoding that is understood is chunked, in HTTP/1.1.";
            }
        }
        String ofLength = problemOfLength(headers);
        if (ofLength != null) {
            return ofLength;
        }
        List<String> hosts = headers.getAll("host");
        boolean oneHost = hosts.size() == 1 && RequestTarget.isHost(hosts.getFirst());
        boolean mayLack = hosts.isEmpty() && version == HttpVersion.HTTP_1_0;
        if (!oneHost && !mayLack) {
            return "A request must have one Host header.";
        }
        return all(target, 0, target.length(), c -> c > ' ' && c != 0x7F)
                ? null
                : "A request's target must hold no control characters.";
    }

    /**
     * Checks fields that Netty's decoder accepts and other parsers do not. These are a
     * Content-Length folded over two lines, a field without a name, and the eight bytes behind a
     * WebSocket handshake of 2010.
     */
    private static @Nullable String problemOfLength(MultiMap headers) {
        String length = headers.get("content-length");
        if (length != null && !all(length, 0, length.length(), FramingCheck::isDigit)) {
            return "Content-Length must be a number.";
        }
        return headers.contains("") || headers.contains("sec-websocket-key1")
                ? "An error occurred when parsing the HTTP request."
                : null;
    }

    private static boolean all(String text, int from, int to, IntPredicate test) {
        for (int i = from; i < to; i++) {
            if (!test.test(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }
}
