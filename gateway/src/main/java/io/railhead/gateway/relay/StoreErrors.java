package io.railhead.gateway.relay;

import io.railhead.backend.BackendException;
import io.railhead.cache.FillException;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Converts failures to reach a store to S3 errors, one for each reason. A store's own responses are
 * passed on instead.
 */
public final class StoreErrors {

    /** Codes by which a store refuses the signer, not the request. */
    private static final Set<String> OF_CREDENTIALS = Set.of("SignatureDoesNotMatch",
            "InvalidAccessKeyId", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
            "RequestTimeTooSkewed");

    private StoreErrors() {}

    /**
     * Returns the error for a store's refusal of the gateway's own credential; null for any other
     * refusal. Such a refusal must not look like a fault of the client's signature.
     *
     * @param principal the principal whose requests the credential signs
     * @param code the store's error code
     */
    public static @Nullable S3Refusal credentialRefusal(String principal, String code) {
        return OF_CREDENTIALS.contains(code)
                ? new S3Refusal(S3Error.STORE_CREDENTIAL_REFUSED,
                        "The gateway accepted this request's signature, but the store behind it"
                                + " answered " + code + " to the credential that the gateway has"
                                + " there for principal '" + principal
                                + "': an operator has to correct that.")
                : null;
    }

    /** Turns a store's failure into an S3 error; any other failure stays as it is. */
    public static Throwable of(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return switch (cause) {
            // An Error is the gateway's own fault, even inside a backend's exception.
            case BackendException backend when backend.getCause() instanceof Error ours -> ours;
            case BackendException backend -> error(backend);
            case FillException fill -> of(fill);
            default -> cause;
        };
    }

    /**
     * Returns the refusal by which the cache itself failed a request, in place of a store; null if
     * a store did not answer.
     */
    public static @Nullable S3Refusal ofCache(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof S3Refusal ours ? ours : null;
    }

    public static S3Refusal of(FillException fill) {
        Throwable cause = fill.getCause();
        S3Refusal ours = cause == null ? null : ofCache(cause);
        if (ours != null) {
            return ours;
        }
        return switch (cause) {
            case BackendException backend -> error(backend);
            // The gateway's own fault, logged where it was caught.
            case Error _ -> new S3Refusal(S3Error.INTERNAL_ERROR);
            case null, default -> unavailable("failed: " + fill.getMessage() + ".");
        };
    }

    private static S3Refusal error(BackendException cause) {
        return switch (cause.reason()) {
            case UNREACHABLE -> unavailable("cannot be reached.");
            case LATE -> unavailable("did not answer in time.");
            case BROKEN -> unavailable("broke off its answer.");
            case BUSY -> new S3Refusal(S3Error.SLOW_DOWN,
                    "All connections of the gateway to the store behind it are in use.");
            case RATE_LIMITED -> new S3Refusal(S3Error.SLOW_DOWN,
                    "The gateway may send no more requests to the store behind it now.");
            case MALFORMED -> new S3Refusal(S3Error.STORE_ANSWER_MALFORMED);
            case OVERSIZED -> new S3Refusal(S3Error.STORE_ANSWER_TOO_LARGE,
                    "The store behind the gateway sent more than the gateway takes: "
                            + cause.getMessage() + ".");
            case INTERNAL -> new S3Refusal(S3Error.INTERNAL_ERROR);
            case UNSENT -> unavailable("was not asked: " + cause.getMessage() + ".");
        };
    }

    private static S3Refusal unavailable(String why) {
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                "The store behind the gateway " + why);
    }
}
