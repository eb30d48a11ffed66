package io.railhead.gateway.rdma;

import io.railhead.cache.FillException;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Decline;
import io.railhead.rdma.TransferException;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Transfer faults as S3 errors, one for each reason. */
public final class RdmaErrors {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaErrors.class);

    private RdmaErrors() {}

    public static S3Refusal of(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return switch (cause) {
            case S3Refusal known -> known;
            case TransferException transfer -> new S3Refusal(error(transfer.reason()),
                    String.valueOf(transfer.getMessage()));
            case FillException fill -> StoreErrors.of(fill);
            case Error error -> unexpected(error);
            default ->
                new S3Refusal(S3Error.RDMA_TRANSFER_FAILED, String.valueOf(cause.getMessage()));
        };
    }

    private static S3Refusal unexpected(Error error) {
        LOG.warn("a transfer failed", error);
        return new S3Refusal(S3Error.INTERNAL_ERROR);
    }

    /** Returns the refusal by which a token is declined in this form. */
    public static S3Refusal declined(Decline.Answer form, String reason) {
        return new S3Refusal(S3Error.RDMA_NOT_SUPPORTED,
                "RDMA is not used for this request: " + reason + ".")
                .withStatus(form.status())
                .withHeaders(form.headers())
                .withHeader(Decline.REASON, reason);
    }

    /** Returns the error for a decline that comes too late, since bytes may have been written. */
    public static S3Refusal tooLateToDecline(String reason) {
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                "The transfer had begun and cannot be finished: " + reason + ".");
    }

    private static S3Error error(TransferException.Reason reason) {
        return switch (reason) {
            case UNKNOWN_SESSION -> S3Error.RDMA_UNKNOWN_SESSION;
            case FOREIGN_SESSION -> S3Error.RDMA_FOREIGN_SESSION;
            case UNKNOWN_KEY -> S3Error.RDMA_UNKNOWN_KEY;
            case OUT_OF_BOUNDS -> S3Error.RDMA_OUT_OF_BOUNDS;
            case REMOTE_ACCESS -> S3Error.RDMA_REMOTE_ACCESS;
            case PEER_GONE -> S3Error.RDMA_PEER_GONE;
            case FENCED -> S3Error.RDMA_TRANSFER_FENCED;
            case UNAVAILABLE -> S3Error.RDMA_UNAVAILABLE;
        };
    }
}
