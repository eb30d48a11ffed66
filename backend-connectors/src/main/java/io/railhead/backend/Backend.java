package io.railhead.backend;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One S3 store behind the gateway: endpoints balanced, ejected on failure and probed back. Any
 * thread; no call blocks; stages complete on the backend's own threads, which must not be held up.
 */
public interface Backend extends AutoCloseable {

    String name();

    /** The region that its signatures name. */
    default String region() {
        return "us-east-1";
    }

    /** What the store can do, as probed; before the first probe, {@link Capabilities#ASSUMED}. */
    Capabilities capabilities();

    /**
     * Asks the store what it can do. With a bucket: by a small object below
     * {@code .railhead-probe/} in it, deleted again. Without: by reading some object that the
     * caller can list; what cannot be seen that way stays as assumed.
     */
    CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller);

    /** Whether any endpoint is thought to answer. */
    boolean isReachable();

    /**
     * Signs the request for its caller and sends it. Retried, capped and with jitter, only if
     * {@link BackendRequest#isIdempotent} or no byte of its body was asked for, and before any
     * answer was handed on. The stage completes with whatever the store answered, errors included,
     * or fails with {@link BackendException} when it did not answer.
     */
    CompletionStage<BackendResponse> send(BackendRequest request);

    /**
     * As {@link #send}, for what fills the cache: a GET whose body is taken as fast as it comes. It
     * waits for its turn where more would be under way than the store stands.
     */
    default CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return send(request);
    }

    BackendStats stats();

    @Override
    void close();
}
