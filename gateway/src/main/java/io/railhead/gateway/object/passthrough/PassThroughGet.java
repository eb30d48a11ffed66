package io.railhead.gateway.object.passthrough;

import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.S3Request;

/** GetObject under the client's own signature. Requests that the cache cannot judge are relayed. */
public final class PassThroughGet implements Operation {
    private final ReadServices services;

    public PassThroughGet(ReadServices services) {
        this.services = services;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        boolean judged = ReadRules.isCacheable(request) && !request.query().isPresigned()
                && request.header("if-match") == null
                && request.query().allNames(name -> !AnswerHead.isOverride(name));
        if (judged) {
            new PassThroughRead(services, httpExchange, request).start();
        } else {
            services.relay().handle(httpExchange, request);
        }
    }
}
