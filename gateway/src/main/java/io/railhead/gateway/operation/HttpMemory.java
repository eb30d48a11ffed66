package io.railhead.gateway.operation;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.Requester;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.dialect.Dialect;
import io.railhead.rdma.dialect.Reply;
import io.vertx.core.http.HttpServerResponse;
import java.util.Locale;

/** The memory that a token names, answered over HTTP: what is declined goes into the body. */
record HttpMemory(ReadServices services, Exchange exchange, S3Request request, RemoteBuffer buffer,
        Dialect dialect) implements Destination {

    @Override
    public Requester requester() {
        return exchange;
    }

    @Override
    public void deliver(ObjectRead read, ReadPlan plan, CacheResult expected) {
        new MemoryRead(read, plan.clippedTo(buffer.length()), expected, buffer, new Told(read))
                .start();
    }

    private final class Told implements MemoryRead.Client {
        private final ObjectRead read;

        Told(ObjectRead read) {
            this.read = read;
        }

        @Override
        public void delivered(ReadPlan plan, CacheResult result) {
            count(dialect, services, "delivered");
            exchange.movedByRdma(buffer.session().fabric(), plan.length());
            HttpServerResponse response = AnswerHead.writeObject(exchange, request, plan, result);
            new Reply(plan.status(), plan.length()).headers().forEach(response::putHeader);
            response.putHeader("content-length", "0");
            response.end();
        }

        @Override
        public void declined(String reason) {
            services.metrics().rdmaDeclined.labels(reason).inc();
            if (!exchange.isOver()) {
                read.redirect(new HttpBody(services, exchange, request, reason));
            }
        }

        @Override
        public void begunAnew() {
            // The client waits for the one answer.
        }

        @Override
        public void broken(S3Exception error) {
            count(dialect, services, "broken");
            exchange.fail(error);
        }
    }

    static void count(Dialect dialect, ReadServices services, String result) {
        services.metrics().rdmaRequests.labels(dialect.name().toLowerCase(Locale.ROOT), result)
                .inc();
    }

    @Override
    public void uncacheable() {
        declinedWhole().uncacheable();
    }

    @Override
    public void refused() {
        declinedWhole().refused();
    }

    @Override
    public void unsatisfiable() {
        declinedWhole().unsatisfiable();
    }

    private HttpBody declinedWhole() {
        services.metrics().rdmaDeclined.labels("uncacheable").inc();
        return new HttpBody(services, exchange, request, "uncacheable");
    }

    @Override
    public void refused(BackendResponse answer) {
        Relay.pass(exchange, request.method(), answer);
    }
}
