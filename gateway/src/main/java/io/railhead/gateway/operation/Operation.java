package io.railhead.gateway.operation;

import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;

/** One S3 operation. Called on the exchange's event loop; answers it exactly once, now or later. */
@FunctionalInterface
public interface Operation {

    void handle(Exchange exchange, S3Request request);
}
