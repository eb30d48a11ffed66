package io.railhead.backend.aws;

import static java.util.Objects.requireNonNullElse;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BackendStats;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Capabilities;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one implementation of {@link Backend}. It uses the SDK's credentials, signer and retry
 * delays, but not its S3 model: that drops unknown headers and rewrites what a relay must keep.
 */
public final class AwsBackend implements Backend {
    private final BackendConfig config;
    private final Counters counters = new Counters();
    private final ConnectionPool connectionPool;
    private final StoreEndpoints storeEndpoints;
    private final RetryingCall.Route route;
    private final FetchGate gate;
    private final @Nullable StoreRate rate;
    private final CallerCredentials credentials;
    private volatile Capabilities capabilities = Capabilities.ASSUMED;
    private volatile boolean probedByWriting;

    public AwsBackend(BackendConfig config) {
        this(config, Tuning.DEFAULT, Clock.systemUTC());
    }

    AwsBackend(BackendConfig config, Tuning tuning, Clock clock) {
        this(config, tuning, clock, CallerCredentials.of(config));
    }

    AwsBackend(BackendConfig config, Tuning tuning, Clock clock, CallerCredentials credentials) {
        this.credentials = credentials;
        this.config = config;
        connectionPool = new ConnectionPool(config);
        storeEndpoints = new StoreEndpoints(config.endpoints(), tuning, connectionPool.timer(),
                this::answers);
        RequestEncoder requestEncoder = new RequestEncoder(config,
                new Signer(config.region(), clock), counters);
        gate = new FetchGate(config.fetches());
        rate = StoreRate.of(config.rate(),
                this::later, System::nanoTime);
        counters.charge(rate);
        route = new RetryingCall.Route(config, connectionPool, storeEndpoints, requestEncoder,
                tuning, counters, rate);
    }

    private void later(Runnable task, long nanos) {
        var _ = connectionPool.timer().schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public String name() {
        return config.name();
    }

    @Override
    public String region() {
        return config.region();
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    /** Probes on a virtual thread of its own: a probe makes a dozen requests one after another. */
    @Override
    public CompletionStage<Capabilities> probe(@Nullable String bucket, Caller caller) {
        CapabilityProbe probe = probe(caller);
        return probing(() -> bucket == null
                ? settle(requireNonNullElse(probe.reading(null), Capabilities.ASSUMED), false)
                : settle(probe.writing(bucket), true));
    }

    /**
     * Keeps capabilities. A probe that only reads cannot see trailers, so it does not revoke them.
     */
    private synchronized Capabilities settle(Capabilities seen, boolean byWriting) {
        capabilities = !byWriting && capabilities.trailers() ? seen.withTrailers() : seen;
        probedByWriting = byWriting;
        return capabilities;
    }

    private synchronized void showTrailers() {
        if (!probedByWriting) {
            capabilities = capabilities.withTrailers();
        }
    }

    /**
     * Returns the capabilities that reading some existing object shows. Nothing is written, and the
     * kept capabilities do not change. Empty if the caller can list no object; trailers are never
     * seen this way.
     *
     * @param bucket the bucket to search; null for any
     */
    public CompletionStage<Optional<Capabilities>> look(@Nullable String bucket, Caller caller) {
        return probing(() -> Optional.ofNullable(probe(caller).reading(bucket)));
    }

    private CapabilityProbe probe(Caller caller) {
        return new CapabilityProbe(request -> send(request, RequestEncoder.TrailerUse.SEND, null),
                caller);
    }

    private <T> CompletionStage<T> probing(Supplier<T> probe) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofVirtual().name("backend-" + config.name() + "-probe").start(() -> {
            try {
                result.complete(probe.get());
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(HttpFailures.translate(e));
            }
        });
        return result;
    }

    @Override
    public boolean isReachable() {
        return storeEndpoints.healthy() > 0;
    }

    @Override
    public CompletionStage<BackendResponse> send(BackendRequest request) {
        return send(request, (RetryingCall.Admission) null);
    }

    @Override
    public CompletionStage<BackendResponse> fetch(BackendRequest request, FetchTurn turn) {
        return send(request, new RetryingCall.Admission(gate, turn));
    }

    private CompletionStage<BackendResponse> send(BackendRequest request,
            RetryingCall.@Nullable Admission through) {
        boolean auto = config.trailers() == BackendConfig.TrailerPolicy.AUTO;
        RequestEncoder.TrailerUse trailers = trailers();
        CompletionStage<BackendResponse> answer = send(request, trailers, through);
        return !auto || trailers == RequestEncoder.TrailerUse.SEND || probedByWriting
                ? answer
                : answer.whenComplete((response, failure) -> learn(response));
    }

    private RequestEncoder.TrailerUse trailers() {
        boolean sent = switch (config.trailers()) {
            case AUTO -> capabilities.trailers();
            case FORWARD -> true;
            case DROP -> false;
        };
        return sent ? RequestEncoder.TrailerUse.SEND : RequestEncoder.TrailerUse.DROP;
    }

    /** Stores adopted trailers together with these headers, which older versions never send. */
    private void learn(@Nullable BackendResponse response) {
        if (response != null && response.status() < 300
                && (response.headers().contains("x-amz-checksum-algorithm")
                        || Capabilities.showChecksum(response.headers()))) {
            showTrailers();
        }
    }

    private CompletionStage<BackendResponse> send(BackendRequest request,
            RequestEncoder.TrailerUse trailers, RetryingCall.@Nullable Admission through) {
        CompletionStage<Caller.Credential> provided = credentials.find(request.caller());
        return provided == null
                ? new RetryingCall(route, request, trailers, through).start()
                : provided.thenCompose(credential -> new RetryingCall(route,
                        request.withCaller(credential), trailers, through).start());
    }

    @Override
    public BackendStats stats() {
        return counters.snapshot(storeEndpoints.healthy(), storeEndpoints.size(), gate.state());
    }

    /** Returns whether no request, and no response's body, is under way. */
    public boolean isIdle() {
        return connectionPool.isIdle();
    }

    /** Returns the event loops that responses and stages come on. */
    public Iterable<? extends Executor> eventLoops() {
        return connectionPool.eventLoops();
    }

    /** Fails requests in flight first, then ends connections and threads. Waits for the threads. */
    @Override
    public void close() {
        connectionPool.close();
        credentials.close();
    }

    /**
     * Returns whether the endpoint responds. Any response counts, also a refusal, except one that
     * reports that the endpoint is unavailable.
     */
    private CompletionStage<Boolean> answers(StoreEndpoint storeEndpoint) {
        BackendRequest request = new BackendRequest("HEAD", new Target(null, "", null),
                Headers.NONE, new Payload.Empty(), new Caller.Anonymous(), null);
        StoreAttempt storeAttempt = new StoreAttempt(
                route.encoder()
                        .write(request, storeEndpoint.uri(), RequestEncoder.TrailerUse.DROP),
                storeEndpoint, config.idleTimeout(), connectionPool, counters);
        var late = connectionPool.timer()
                .schedule(
                        () -> storeAttempt.abort(HttpFailures.late("probe unanswered")),
                        config.connectTimeout().multipliedBy(2).toNanos(), TimeUnit.NANOSECONDS);
        var _ = storeAttempt.finished().thenRun(() -> late.cancel(false));
        if (rate != null) {
            rate.force();
        }
        storeAttempt.start();
        return storeAttempt.answer().thenApply(response -> {
            BodyDrain.discard(response.body());
            return !RetryingCall.isStoreFailure(response.status());
        });
    }
}
