package io.railhead.gateway.operation;

import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Exception;

/**
 * GetObject: from page memory where that is allowed and fresh, into a body or the client's memory.
 */
final class GetObject implements Operation {
    private final ReadServices services;
    private final TokenAdmission admission;

    GetObject(ReadServices services, TokenAdmission admission) {
        this.services = services;
        this.admission = admission;
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        AnswerHead.requireSendableOverrides(request);
        switch (admission.admit(request, io.railhead.rdma.dialect.Operation.GET)) {
            case TokenAdmission.NoToken _ -> read(exchange, request, new Destination.Body(""));
            case TokenAdmission.Admitted(Destination.Memory memory) ->
                read(exchange, request, memory);
            case TokenAdmission.Inline(String reason) ->
                read(exchange, request, new Destination.Body(reason));
            case TokenAdmission.Refused(S3Exception error) -> exchange.fail(error);
        }
    }

    private void read(Exchange exchange, S3Request request, Destination destination) {
        if (ObjectReads.isCacheable(request)) {
            new ObjectRead(services, exchange, request, destination).start();
            return;
        }
        Destination body = destination;
        if (destination instanceof Destination.Memory) {
            services.metrics().rdmaDeclined.labels("uncacheable").inc();
            body = new Destination.Body("uncacheable");
        }
        ObjectReads.relay(services, exchange, request, body);
    }
}
