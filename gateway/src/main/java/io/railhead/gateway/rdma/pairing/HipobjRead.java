package io.railhead.gateway.rdma.pairing;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.object.read.Destination;
import io.railhead.gateway.object.read.ObjectRead;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.relay.StoreAnswers;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;

/**
 * A hipobj client's GET: looked up at PREPARE, delivered at READY. The dialect has no bodies: a
 * body's delivery is declined, and a store's refusal passed on.
 */
record HipobjRead(PairingAdmission admission, HttpExchange exchange, S3Request request,
        Delivery delivery) implements Destination {

    /** The step that follows once the object is found and may be read. */
    interface Delivery {
        void deliver(ObjectRead read, ReadPlan plan, CacheResult expected);
    }

    @Override
    public ResponseSink requester() {
        return exchange;
    }

    @Override
    public void deliver(ObjectRead read, ReadPlan plan, CacheResult expected) {
        delivery.deliver(read, plan, expected);
    }

    void decline(String reason) {
        exchange.fail(admission.decline(PairingDialect.HIPOBJ, reason));
    }

    @Override
    public void uncacheable() {
        decline("uncacheable");
    }

    /** Gets the store's own error by a request for one byte, which the store will refuse. */
    @Override
    public void refused() {
        ask("bytes=0-0");
    }

    @Override
    public void unsatisfiable() {
        ask(String.valueOf(request.header("range")));
    }

    private void ask(String range) {
        request.store()
                .send(new BackendRequest("GET", request.objectTarget(),
                        Headers.builder().add("Range", range).build(), new Payload.Empty(),
                        request.caller(), null))
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    S3Refusal ours = failure == null ? null : StoreErrors.ofCache(failure);
                    if (ours != null) {
                        exchange.fail(ours);
                    } else if (failure != null) {
                        decline("store");
                    } else {
                        refused(answer);
                    }
                }));
    }

    @Override
    public void refused(BackendResponse answer) {
        if (answer.isSuccess() || exchange.isOver()) {
            BodyDrain.discard(answer.body());
            if (!exchange.isOver()) {
                decline("changed");
            }
        } else {
            Relay.pass(exchange, "GET", answer);
        }
    }
}
