package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Refuses heads that another reader on the way could understand differently, and ends connections
 * on which it could see the next request elsewhere (RFC 9112 §3.2 and §6).
 */
final class FramingCheck {

    private FramingCheck() {}

    static void require(Exchange exchange) {
        HttpServerRequest request = exchange.request();
        if (request.headers().contains("transfer-encoding")) {
            boolean known = request.headers().getAll("transfer-encoding").equals(List.of("chunked"))
                    && request.version() == HttpVersion.HTTP_1_1;
            if (!known) {
                throw refusal(exchange,
                        "The only Transfer-Encoding that is understood is chunked, in HTTP/1.1.");
            }
        }
        requireOneLength(exchange, request.headers());
        List<String> hosts = request.headers().getAll("host");
        boolean oneHost = hosts.size() == 1 && isHost(hosts.getFirst());
        boolean mayLack = hosts.isEmpty() && request.version() == HttpVersion.HTTP_1_0;
        if (!oneHost && !mayLack) {
            throw refusal(exchange, "A request must have one Host header.");
        }
        String target = request.uri();
        if (!all(target, 0, target.length(), c -> c > ' ' && c != 0x7F)) {
            throw refusal(exchange, "A request's target must hold no control characters.");
        }
    }

    /**
     * The decoder reads a length that goes on in the next line, a field without a name, and eight
     * bytes behind the handshake of a WebSocket draft of 2010: others do not.
     */
    private static void requireOneLength(Exchange exchange, MultiMap headers) {
        String length = headers.get("content-length");
        if (length != null && !all(length, 0, length.length(), FramingCheck::isDigit)) {
            throw refusal(exchange, "Content-Length must be a number.");
        }
        if (headers.contains("") || headers.contains("sec-websocket-key1")) {
            throw refusal(exchange, "An error occurred when parsing the HTTP request.");
        }
    }

    /** RFC 3986 §3.2.2, less what nobody calls a host: a name or an address, and maybe a port. */
    private static boolean isHost(String host) {
        boolean literal = host.startsWith("[");
        int end = literal ? host.indexOf(']') + 1 : host.indexOf(':');
        end = end < 0 ? host.length() : end;
        return end > 0
                && all(host, 0, end, c -> isNameCharacter(c)
                        || (literal && (c == '[' || c == ']' || c == ':')))
                && (end == host.length()
                        || (host.charAt(end) == ':'
                                && all(host, end + 1, host.length(), FramingCheck::isDigit)));
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

    private static boolean isNameCharacter(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c)
                || "-._~%".indexOf(c) >= 0;
    }

    private static S3Exception refusal(Exchange exchange, String detail) {
        exchange.closeAfterwards();
        return new S3Exception(S3Error.BAD_REQUEST, detail);
    }
}
