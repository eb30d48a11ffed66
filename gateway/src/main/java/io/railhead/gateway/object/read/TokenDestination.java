package io.railhead.gateway.object.read;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.RdmaDelivery.Written;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Decline;
import io.railhead.protocol.token.Dialect;
import io.railhead.protocol.token.DialectReply;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.RemoteWindows;
import io.vertx.core.http.HttpServerResponse;
import org.jspecify.annotations.Nullable;

/**
 * The client's memory that a token names, with the response over HTTP. A declined delivery goes
 * into the body instead, unless bytes may have been written already.
 */
public record TokenDestination(ReadServices services, HttpExchange exchange, S3Request request,
        RemoteBuffer buffer,
        Dialect dialect, Written written) implements Destination {

    @Override
    public ResponseSink requester() {
        return exchange;
    }

    @Override
    public void deliver(ObjectRead read, ReadPlan plan, CacheResult expected) {
        exchange.moves(Math.min(buffer.length(), plan.length()));
        new RdmaGet(read, plan.clippedTo(buffer.length()), expected,
                RemoteWindows.of(buffer), new Told(read))
                .start();
    }

    private final class Told implements RdmaGet.Client {
        private final ObjectRead read;

        Told(ObjectRead read) {
            this.read = read;
        }

        @Override
        public void delivered(ReadPlan plan, CacheResult result) {
            count(dialect, services, "delivered");
            exchange.movedByRdma(buffer.session().fabric(), plan.length());
            HttpServerResponse response = AnswerHead.writeObject(exchange, request, plan, result);
            new DialectReply(plan.status(), plan.length()).headers().forEach(response::putHeader);
            response.putHeader("content-length", "0");
            response.end();
        }

        @Override
        public void declined(String reason) {
            HttpBodyDestination body = declinedBody(reason);
            if (body != null && !exchange.isOver()) {
                read.redirect(body);
            }
        }

        @Override
        public void begunAnew(Written now) {
            if (now == Written.PERHAPS_SOME) {
                read.goOn(new TokenDestination(services, exchange, request, buffer, dialect, now));
            }
        }

        @Override
        public void broken(S3Refusal error) {
            breakOff(error);
        }
    }

    public static void count(Dialect dialect, ReadServices services, String result) {
        services.metrics().rdmaRequests.labels(dialect.name(), result).inc();
    }

    private void breakOff(S3Refusal error) {
        count(dialect, services, "broken");
        exchange.fail(error);
    }

    /**
     * Returns the HTTP body that the object goes into after a decline; null if the dialect answers
     * with an error, which this call has sent.
     */
    private @Nullable HttpBodyDestination declinedBody(String reason) {
        if (written == Written.PERHAPS_SOME) {
            breakOff(RdmaErrors.tooLateToDecline(reason));
            return null;
        }
        services.metrics().rdmaDeclined.labels(reason).inc();
        return switch (dialect.decline(TokenOperation.GET)) {
            case Decline.ServeInline _ ->
                new HttpBodyDestination(services, exchange, request, reason);
            case Decline.Answer answer -> {
                exchange.fail(RdmaErrors.declined(answer, reason));
                yield null;
            }
        };
    }

    /** Declines with a relayed body: the object cannot be served from the cache either. */
    void decline(String reason) {
        HttpBodyDestination body = declinedBody(reason);
        if (body != null && !exchange.isOver()) {
            body.uncacheable();
        }
    }

    /** Declines with a response from the store that is at hand already. */
    void passDeclined(BackendResponse answer, String reason) {
        if (declinedBody(reason) == null) {
            BodyDrain.discard(answer.body());
        } else {
            exchange.request().response().putHeader(Decline.REASON, reason);
            Relay.pass(exchange, request.method(), answer);
        }
    }

    @Override
    public void uncacheable() {
        new UncachedRdmaGet(this).start();
    }

    /** Relays the request for the store's own error; the store may also serve it now. */
    @Override
    public void refused() {
        uncacheable();
    }

    @Override
    public void unsatisfiable() {
        refused();
    }

    @Override
    public void refused(BackendResponse answer) {
        Relay.pass(exchange, request.method(), answer);
    }
}
