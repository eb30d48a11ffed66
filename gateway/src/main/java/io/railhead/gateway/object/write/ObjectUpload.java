package io.railhead.gateway.object.write;

import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;

/** PutObject with its body over HTTP; the uploaded bytes are cached if the rule says so. */
public final class ObjectUpload implements Operation {
    private final ReadServices services;

    public ObjectUpload(ReadServices services) {
        this.services = services;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        WriteThroughUpload kept = new WriteThroughUpload(services, httpExchange.executor(),
                request);
        Writes.Write write = ObjectWrite.begin(services.cache(), request, request.objectId());
        try {
            services.relay()
                    .forward(httpExchange, request, kept::tap, outcome -> {
                        long generation = write.end(ObjectWrite.outcomeOf(outcome));
                        kept.settle(outcome instanceof Relay.Outcome.Answered(var answer)
                                ? answer
                                : null, generation);
                        return write.heard();
                    });
        } catch (RuntimeException | Error e) {
            write.end(WriteOutcome.REFUSED);
            kept.settle(null, Writes.DISTURBED);
            throw e;
        }
    }
}
