package io.railhead.gateway.operation;

import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;

/** GetObject under the client's own signature; what the cache cannot judge is relayed. */
final class PassedGet implements Operation {
    private final ReadServices services;

    PassedGet(ReadServices services) {
        this.services = services;
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        boolean judged = ObjectReads.isCacheable(request) && !request.query().isPresigned()
                && request.header("if-match") == null
                && request.query().allNames(name -> !AnswerHead.isOverride(name));
        if (judged) {
            new PassedRead(services, exchange, request).start();
        } else {
            services.relay().handle(exchange, request);
        }
    }
}
