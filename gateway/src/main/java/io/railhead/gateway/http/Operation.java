package io.railhead.gateway.http;

import io.railhead.gateway.request.S3Request;

/**
 * One S3 operation. Called on the exchange's event loop; must answer exactly once, now or later.
 */
@FunctionalInterface
public interface Operation {

    void handle(HttpExchange httpExchange, S3Request request);
}
