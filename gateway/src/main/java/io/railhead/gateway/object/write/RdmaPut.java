package io.railhead.gateway.object.write;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.gateway.delivery.RdmaSource;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.relay.ForwardedHeaders;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.ResponseSink;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.RemoteWindows;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * PutObject or UploadPart whose body is read from the client's memory. The client's response
 * follows the backend's. The last byte reaches the backend only after the whole body matched its
 * declared length and checksums. Requester's executor only.
 */
public final class RdmaPut {
    private final ReadServices services;
    private final ResponseSink responseSink;
    private final S3Request request;
    private final TokenOperation kind;
    private final RemoteWindows windows;
    private final Client client;
    private final BodyReader reader;

    /** The receiver of the end: exactly one call, after the last access to the windows. */
    public interface Client {

        /** Reports success. The response's body has been discarded already. */
        void received(BackendResponse answer);

        /** Reports the backend's refusal, whose body must still be read. */
        void refused(BackendResponse answer);

        /**
         * Reports an upload that was not finished.
         *
         * @param cause an {@code S3Refusal} if the body failed its checks: then nothing was stored
         */
        void broken(Throwable cause);
    }

    /**
     * Throws {@code S3Refusal} if the declarations about the body are invalid.
     *
     * @param kind PUT or PART
     */
    public RdmaPut(ReadServices services, ResponseSink responseSink, S3Request request,
            TokenOperation kind, RemoteWindows windows, Client client) {
        this.services = services;
        this.responseSink = responseSink;
        this.request = request;
        this.kind = kind;
        this.windows = windows;
        this.client = client;
        this.reader = reader(request.authentication(), request.headers(), windows.length());
    }

    public void start() {
        // Headers that cannot be forwarded are refused before a transfer exists that would have to
        // be ended.
        Headers headers = ForwardedHeaders.toBackend(request.headers());
        Transfer transfer;
        try {
            transfer = windows.begin(services.fabric());
        } catch (TransferException e) {
            client.broken(RdmaErrors.of(e));
            return;
        }
        RdmaSource body = new RdmaSource(services.cache(), transfer, responseSink.executor(),
                reader,
                windows.length());
        responseSink
                .onClosed(() -> body.abort(new TransferException(TransferException.Reason.FENCED,
                        "the client went away or wants no answer")));
        long timer = services.vertx()
                .setTimer(
                        Math.max(1,
                                services.deadlines().fenceMillis(responseSink.arrivedAtNanos())),
                        ignored -> responseSink.executor()
                                .execute(() -> body.abort(new TransferException(
                                        TransferException.Reason.FENCED,
                                        "the deadline has passed"))));
        Writes.@Nullable Write write = beginWrite();
        WriteThroughUpload kept = new WriteThroughUpload(services, responseSink.executor(),
                request);
        Publisher<ByteBuffer> passing = write == null ? body : kept.tap(body, windows.length());
        BackendRequest forwarded = new BackendRequest("PUT", request.target(),
                headers, Relay.stream(passing, reader, windows.length()), request.caller(), null);
        send(forwarded)
                .whenComplete((answer, failure) -> transfer.fence()
                        .whenComplete((fenced, unfenced) -> responseSink.executor().execute(() -> {
                            services.vertx().cancelTimer(timer);
                            if (write == null) {
                                answered(body, answer, failure);
                                return;
                            }
                            kept.settle(answer, write.end(outcome(body, answer)));
                            responseSink.after(write.heard(),
                                    () -> answered(body, answer, failure));
                        })));
    }

    /** Sends the request; a failure to send completes the stage as any other failure does. */
    private CompletionStage<BackendResponse> send(BackendRequest forwarded) {
        try {
            return request.store().send(forwarded);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Checks declared checksums against the bytes in the client's memory, not against the empty
     * body.
     */
    private static BodyReader reader(Authentication authentication, Headers headers,
            long length) {
        return BodyReader.openPlain(declared(authentication), headers.toBuilder()
                .set("Content-Length", Long.toString(length))
                .build());
    }

    /**
     * Returns the signed digest if it describes the memory: the digest of the empty body does not.
     */
    private static PayloadSigning declared(Authentication authentication) {
        return authentication instanceof Authentication.Signed signed
                && signed.payload() instanceof PayloadSigning.Digest digest
                && !digest.equals(PayloadSigning.Digest.EMPTY)
                        ? digest
                        : new PayloadSigning.Unsigned();
    }

    /** A part changes no object until it is completed, so only PutObject counts as a write. */
    private Writes.@Nullable Write beginWrite() {
        return kind == TokenOperation.PART
                ? null
                : ObjectWrite.begin(services.cache(), request, request.objectId());
    }

    private static WriteOutcome outcome(RdmaSource body, @Nullable BackendResponse answer) {
        boolean succeeded = answer != null && answer.isSuccess();
        if (Relay.isUnsent(body)) {
            return succeeded ? WriteOutcome.UNKNOWN : WriteOutcome.REFUSED;
        }
        return answer == null ? WriteOutcome.UNKNOWN : ObjectWrite.outcomeOf(answer);
    }

    private void answered(RdmaSource body, @Nullable BackendResponse answer,
            @Nullable Throwable failure) {
        Throwable refusal = answer == null ? null : Relay.failure(body, answer);
        if (answer == null || refusal != null || responseSink.isOver()) {
            if (answer != null) {
                BodyDrain.discard(answer.body());
            }
            client.broken(refusal == null ? cause(body, failure) : RdmaErrors.of(refusal));
        } else if (answer.isSuccess()) {
            BodyDrain.discard(answer.body());
            client.received(answer);
        } else {
            client.refused(answer);
        }
    }

    private static Throwable cause(RdmaSource body, @Nullable Throwable failure) {
        Throwable pulled = body.failure();
        if (pulled != null) {
            return RdmaErrors.of(pulled);
        }
        return failure == null
                ? new IllegalStateException("the exchange is over")
                : StoreErrors.of(failure);
    }
}
