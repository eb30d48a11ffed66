package io.railhead.gateway.operation;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.gateway.auth.Authentication;
import io.railhead.gateway.auth.BodyReader;
import io.railhead.gateway.auth.PayloadSigning;
import io.railhead.gateway.delivery.PulledBody;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Exception;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.dialect.Reply;
import io.vertx.core.http.HttpServerResponse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * PutObject and UploadPart: the body comes over HTTP, or is read out of the client's memory. Either
 * way the backend's answer is the promise, and the last byte goes to it only when everything that
 * was declared about the body has proved true.
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
        switch (admission.admit(request, kind)) {
            case TokenAdmission.NoToken _ -> overHttp.handle(exchange, request);
            // No dialect declines an upload inline: a body-less PUT forwarded is an empty object.
            case TokenAdmission.Inline(String reason) ->
                throw new IllegalStateException("inline upload: " + reason);
            case TokenAdmission.Admitted(Destination.Memory memory) ->
                pull(exchange, request, memory);
            case TokenAdmission.Refused(S3Exception error) -> exchange.fail(error);
        }
    }

    private void pull(Exchange exchange, S3Request request, Destination.Memory memory) {
        Transfer transfer;
        try {
            transfer = services.fabric().begin(memory.buffer());
        } catch (TransferException e) {
            exchange.fail(RdmaErrors.of(e));
            return;
        }
        long length = memory.buffer().length();
        BodyReader reader = pulledReader(request, length);
        PulledBody body = new PulledBody(services.cache(), transfer, exchange.executor(), reader,
                length);
        exchange.onClosed(() -> body.abort(new TransferException(TransferException.Reason.FENCED,
                "the client's connection closed")));
        long timer = services.vertx()
                .setTimer(Math.max(1, services.deadlines().fenceMillis(exchange.arrivedAtNanos())),
                        ignored -> body.abort(new TransferException(TransferException.Reason.FENCED,
                                "the deadline has passed")));
        Headers headers = ForwardedHeaders.toBackend(request.headers());
        Payload payload = Relay.stream(body, reader, length);
        BackendRequest forwarded = new BackendRequest("PUT", request.target(), headers, payload,
                request.caller(), null);
        Consumer<Integer> onStatus = writeEnd(request);
        request.route()
                .backend()
                .send(forwarded)
                .whenComplete((answer, failure) -> transfer.fence()
                        .whenComplete((fenced, unfenced) -> exchange.executor().execute(() -> {
                            services.vertx().cancelTimer(timer);
                            onStatus.accept(failure == null ? answer.status() : 599);
                            answered(exchange, memory, body, answer, failure);
                        })));
    }

    /** The declared checksums are of the bytes in the client's memory, not of the empty body. */
    private static BodyReader pulledReader(S3Request request, long length) {
        if (!(request.authentication() instanceof Authentication.Signed signed)) {
            throw new IllegalStateException("a token is admitted only if it is signed");
        }
        Authentication unsignedPayload = new Authentication.Signed(signed.principal(), signed.key(),
                signed.scope(),
                signed.signature(), signed.signedHeaders(), signed.presigned(), signed.signedAt(),
                new PayloadSigning.Unsigned(), signed.signingKey());
        Headers headers = request.headers()
                .toBuilder()
                .set("Content-Length", Long.toString(length))
                .set("x-amz-content-sha256", PayloadSigning.UNSIGNED)
                .build();
        return BodyReader.open(unsignedPayload, headers);
    }

    /** A part changes no object until it is completed, so only PutObject counts as a write. */
    private Consumer<Integer> writeEnd(S3Request request) {
        if (kind == io.railhead.rdma.dialect.Operation.PART) {
            return status -> {};
        }
        var write = services.cache().beginWrite(request.objectId());
        return status -> write.end(ObjectWrite.outcomeOf(status));
    }

    private void answered(Exchange exchange, Destination.Memory memory, PulledBody body,
            @Nullable BackendResponse answer, @Nullable Throwable failure) {
        if (answer == null || body.failure() != null || exchange.isOver()) {
            if (answer != null) {
                BodyDrain.discard(answer.body());
            }
            services.metrics().rdmaRequests
                    .labels(memory.label(), "broken")
                    .inc();
            exchange.fail(cause(body, failure));
            return;
        }
        if (!answer.isSuccess()) {
            Relay.pass(exchange, "PUT", answer);
            return;
        }
        BodyDrain.discard(answer.body());
        services.metrics().rdmaRequests
                .labels(memory.label(), "received")
                .inc();
        HttpServerResponse response = exchange.answer(answer.status());
        ForwardedHeaders.toClient(answer.headers(), response);
        new Reply(answer.status(), memory.buffer().length()).headers().forEach(response::putHeader);
        response.putHeader("content-length", "0");
        response.end();
    }

    private static Throwable cause(PulledBody body, @Nullable Throwable failure) {
        Throwable pulled = body.failure();
        if (pulled != null) {
            return pulled instanceof S3Exception ? pulled : RdmaErrors.of(pulled);
        }
        return failure == null
                ? new IllegalStateException("the exchange is over")
                : Relay.unanswered(failure);
    }
}
