package io.railhead.gateway.frontdoor;

import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.s3.sigv4.RequestHead;

/**
 * One of the gateway's own HTTP paths for callers that cannot sign. The handler authenticates its
 * callers.
 */
@FunctionalInterface
public interface UnsignedEndpoint {

    void handle(HttpExchange httpExchange, RequestHead head);
}
