package io.railhead.gateway.object.write;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.object.read.TokenDestination;
import io.railhead.gateway.rdma.TokenAdmission;
import io.railhead.gateway.relay.EmptyBody;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.EmptyBodySums;
import io.railhead.protocol.token.Dialect;
import io.railhead.protocol.token.DialectReply;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.RemoteWindows;
import io.vertx.core.http.HttpServerResponse;

/**
 * PutObject and UploadPart: the body comes over HTTP, or is read from the memory that a token
 * names.
 */
public final class PutObject implements Operation {
    private final ReadServices services;
    private final TokenAdmission admission;
    private final Operation overHttp;
    private final TokenOperation kind;

    /** @param overHttp handles requests without a token */
    public PutObject(ReadServices services, TokenAdmission admission, Operation overHttp,
            TokenOperation kind) {
        this.services = services;
        this.admission = admission;
        this.overHttp = overHttp;
        this.kind = kind;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        switch (admission.admit(request, kind,
                httpExchange.connection())) {
            case TokenAdmission.NoToken _ -> overHttp.handle(httpExchange, request);
            // No dialect declines an upload inline: forwarding a PUT without its body would store
            // an empty object.
            case TokenAdmission.Inline(String reason) ->
                throw new IllegalStateException("inline upload: " + reason);
            case TokenAdmission.Admitted(RemoteBuffer buffer, Dialect dialect) ->
                EmptyBody.require(httpExchange, request,
                        () -> upload(httpExchange, request, buffer, dialect));
            case TokenAdmission.Refused(S3Refusal error) -> httpExchange.fail(error);
        }
    }

    private void upload(HttpExchange httpExchange, S3Request request, RemoteBuffer buffer,
            Dialect dialect) {
        httpExchange.moves(buffer.length());
        S3Request ofObject = request.withHeaders(EmptyBodySums.strip(request.headers()));
        new RdmaPut(services, httpExchange, ofObject, kind, RemoteWindows.of(buffer),
                new Told(services, httpExchange, buffer, dialect)).start();
    }

    private record Told(ReadServices services, HttpExchange exchange, RemoteBuffer buffer,
            Dialect dialect) implements RdmaPut.Client {

        @Override
        public void received(BackendResponse answer) {
            TokenDestination.count(dialect, services, "received");
            exchange.movedByRdma(buffer.session().fabric(), buffer.length());
            HttpServerResponse response = exchange.answer(answer.status());
            ForwardedHeaders.toClient(answer.headers(), response);
            new DialectReply(answer.status(), buffer.length()).headers()
                    .forEach(response::putHeader);
            response.putHeader("content-length", "0");
            response.end();
        }

        @Override
        public void refused(BackendResponse answer) {
            Relay.pass(exchange, "PUT", answer);
        }

        @Override
        public void broken(Throwable cause) {
            TokenDestination.count(dialect, services, "broken");
            exchange.fail(cause);
        }
    }
}
