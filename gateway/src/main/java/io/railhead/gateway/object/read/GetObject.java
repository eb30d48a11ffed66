package io.railhead.gateway.object.read;

import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.RdmaDelivery;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.rdma.TokenAdmission;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Dialect;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.RemoteBuffer;

/**
 * GetObject: serves cached bytes, if permitted and fresh, in a body or into the client's memory.
 */
public final class GetObject implements Operation {
    private final ReadServices services;
    private final TokenAdmission admission;

    public GetObject(ReadServices services, TokenAdmission admission) {
        this.services = services;
        this.admission = admission;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        AnswerHead.requireSendableOverrides(request);
        switch (admission.admit(request, TokenOperation.GET,
                httpExchange.connection())) {
            case TokenAdmission.NoToken _ ->
                read(request, new HttpBodyDestination(services, httpExchange, request, ""));
            case TokenAdmission.Admitted(RemoteBuffer buffer, Dialect dialect) ->
                intoMemory(new TokenDestination(services, httpExchange, request, buffer, dialect,
                        RdmaDelivery.Written.NOTHING));
            case TokenAdmission.Inline(String reason) ->
                read(request, new HttpBodyDestination(services, httpExchange, request, reason));
            case TokenAdmission.Refused(S3Refusal error) -> httpExchange.fail(error);
        }
    }

    private void intoMemory(TokenDestination memory) {
        S3Request request = memory.request();
        if (!PartRange.isAsked(request)) {
            read(request, memory);
            return;
        }
        PartRange.find(memory.exchange(), request, new PartRange.Found() {
            @Override
            public void at(S3Request ranged) {
                read(ranged, memory);
            }

            @Override
            public void unknown() {
                memory.refused();
            }
        });
    }

    private void read(S3Request request, Destination destination) {
        if (ReadRules.isCacheable(request)) {
            new ObjectRead(services, request, destination).start();
        } else {
            destination.uncacheable();
        }
    }
}
