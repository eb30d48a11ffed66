package io.railhead.gateway.operation;

import io.railhead.backend.BackendResponse;
import io.railhead.gateway.auth.EmptyBodySums;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.dialect.Dialect;
import io.railhead.rdma.dialect.Reply;
import io.vertx.core.http.HttpServerResponse;

/**
 * PutObject and UploadPart: the body comes over HTTP, or is read out of the memory that a token
 * names.
 */
final class PutObject implements Operation {
    private final ReadServices services;
    private final TokenAdmission admission;
    private final Operation overHttp;
    private final io.railhead.rdma.dialect.Operation kind;

    /** @param overHttp what happens to a request without a token */
    PutObject(ReadServices services, TokenAdmission admission, Operation overHttp,
            io.railhead.rdma.dialect.Operation kind) {
        this.services = services;
        this.admission = admission;
        this.overHttp = overHttp;
        this.kind = kind;
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        switch (admission.admit(request, kind,
                exchange.connection())) {
            case TokenAdmission.NoToken _ -> overHttp.handle(exchange, request);
            // No dialect declines an upload inline: a body-less PUT forwarded is an empty object.
            case TokenAdmission.Inline(String reason) ->
                throw new IllegalStateException("inline upload: " + reason);
            case TokenAdmission.Admitted(RemoteBuffer buffer, Dialect dialect) ->
                EmptyBody.require(exchange, request,
                        () -> upload(exchange, request, buffer, dialect));
            case TokenAdmission.Refused(S3Exception error) -> exchange.fail(error);
        }
    }

    private void upload(Exchange exchange, S3Request request, RemoteBuffer buffer,
            Dialect dialect) {
        exchange.moves(buffer.length());
        S3Request ofObject = request.withHeaders(EmptyBodySums.strip(request.headers()));
        new MemoryUpload(services, exchange, ofObject, kind, buffer,
                new Told(services, exchange, buffer, dialect)).start();
    }

    private record Told(ReadServices services, Exchange exchange, RemoteBuffer buffer,
            Dialect dialect) implements MemoryUpload.Client {

        @Override
        public void received(BackendResponse answer) {
            HttpMemory.count(dialect, services, "received");
            exchange.movedByRdma(buffer.session().fabric(), buffer.length());
            HttpServerResponse response = exchange.answer(answer.status());
            ForwardedHeaders.toClient(answer.headers(), response);
            new Reply(answer.status(), buffer.length()).headers().forEach(response::putHeader);
            response.putHeader("content-length", "0");
            response.end();
        }

        @Override
        public void refused(BackendResponse answer) {
            Relay.pass(exchange, "PUT", answer);
        }

        @Override
        public void broken(Throwable cause) {
            HttpMemory.count(dialect, services, "broken");
            exchange.fail(cause);
        }
    }
}
