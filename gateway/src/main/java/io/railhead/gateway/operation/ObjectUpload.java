package io.railhead.gateway.operation;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.WriteOutcome;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;

/** PutObject whose body comes over HTTP; what it uploads is kept where the rule says so. */
final class ObjectUpload implements Operation {
    private final ReadServices services;

    ObjectUpload(ReadServices services) {
        this.services = services;
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        KeptUpload kept = new KeptUpload(services, exchange.executor(), request);
        ObjectCache.Write write = ObjectWrite.begin(services.cache(), request, request.objectId());
        try {
            services.relay()
                    .forward(exchange, request, kept::tap, outcome -> {
                        long generation = write.end(ObjectWrite.outcomeOf(outcome));
                        kept.settle(outcome instanceof Relay.Outcome.Answered(var answer)
                                ? answer
                                : null, generation);
                    });
        } catch (RuntimeException | Error e) {
            write.end(WriteOutcome.REFUSED);
            kept.settle(null, ObjectCache.DISTURBED);
            throw e;
        }
    }
}
