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
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;

/**
 * An object that hipobj's client asks for: looked for when it prepares, and delivered when it is
 * ready. The dialect has no bodies: what would go into one is declined, and a store's refusal
 * passed on.
 */
record HipobjRead(PairingAdmission admission, HttpExchange exchange, S3Request request,
        Delivery delivery) implements Destination {

    /** What is done once it is known that the object is there and may be read. */
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

    /** In the store's words: it is asked for one byte, which it will not give. */
    @Override
    public void refused() {
        ask("bytes=0-0");
    }

    @Override
    public void unsatisfiable() {
        ask(String.valueOf(request.header("range")));
    }

    private void ask(String range) {
        request.route()
                .backend()
                .send(new BackendRequest("GET", request.objectTarget(),
                        Headers.builder().add("Range", range).build(), new Payload.Empty(),
                        request.caller(), null))
                .whenComplete(StoreAnswers.to(exchange, (answer, failure) -> {
                    if (failure != null) {
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
