package io.railhead.backend;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One S3 store behind the gateway. Requests are balanced over its endpoints; failing ones are
 * ejected and probed until they recover. Any thread; no call blocks; stages complete on the
 * backend's own threads, which must not be blocked.
 */
public interface Backend extends AutoCloseable {

    String name();

    /** Returns the region for signatures. */
    default String region() {
        return "us-east-1";
    }

    /**
     * Returns the store's probed capabilities; before the first probe,
     * {@link Capabilities#ASSUMED}.
     */
    Capabilities capabilities();

    /**
     * Probes the store's capabilities. With a bucket, a small object below {@code .railhead-probe/}
     * is written and deleted. Without one, an object that the caller can list is read; capabilities
     * that cannot be seen that way stay as assumed.
     */
    CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller);

    /** Returns whether any endpoint is believed to be reachable. */
    boolean isReachable();

    /**
     * Signs the request for its caller and sends it. It is retried, with a limit and jitter, only
     * before a response was delivered. It must also be {@link BackendRequest#isIdempotent}, or no
     * byte of its body must have been requested. The stage completes with any response, errors
     * included. It fails with {@link BackendException} if the store did not respond.
     */
    CompletionStage<BackendResponse> send(BackendRequest request);

    /**
     * Sends a fetch as {@link #send} does: a GET whose body is taken as fast as it comes. It waits
     * for its turn while the store has as many fetches as it can take.
     */
    default CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return send(request);
    }

    BackendStats stats();

    @Override
    void close();
}
