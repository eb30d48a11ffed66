package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;

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
        List<String> hosts = request.headers().getAll("host");
        boolean oneHost = hosts.size() == 1
                && hosts.getFirst().chars().noneMatch(c -> c <= ' ' || c == ',' || c == '/');
        boolean mayLack = hosts.isEmpty() && request.version() == HttpVersion.HTTP_1_0;
        if (!oneHost && !mayLack) {
            throw refusal(exchange, "A request must have one Host header.");
        }
    }

    private static S3Exception refusal(Exchange exchange, String detail) {
        exchange.closeAfterwards();
        return new S3Exception(S3Error.BAD_REQUEST, detail);
    }
}
