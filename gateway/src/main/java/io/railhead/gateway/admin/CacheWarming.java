package io.railhead.gateway.admin;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.cache.CacheControl;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.object.read.WarmRead;
import io.railhead.gateway.object.read.WarmRead.Outcome;
import io.railhead.gateway.relay.StoreErrors;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Brings objects into the cache under the caller's identity, as the caller's own reads would. It
 * works on some at a time and within a rate. It ends when all are cached, or more would evict
 * others; on disk, when more would evict its own. {@link #run} blocks; other methods are for any
 * thread.
 */
final class CacheWarming implements WarmRead.Gate {
    private static final int MAX_LISTING_BYTES = 16 << 20;

    /** The services that warming uses. */
    record Services(ReadServices reads, Routes routes, AccessControl access) {

        /**
         * Returns the caller's own GET.
         *
         * @throws S3Refusal if the policy does not allow it
         */
        S3Request request(Authentication.Known caller, RequestSource requestSource, Address address,
                Map<String, String> query) {
            Query parameters = Query.of(query);
            RequestHead head = new RequestHead("GET",
                    "/" + address.bucket() + "/" + address.rawKey(),
                    parameters.rawWithoutSigning(), Headers.NONE);
            S3Request request = new S3Request(head, address, parameters, caller, requestSource,
                    routes.route(caller, address));
            access.require(request);
            return request;
        }
    }

    /**
     * The objects to warm, and the limits.
     *
     * @param keys null for all that the store lists
     * @param from skips keys up to this one, in the order of their bytes; "" for none
     * @param bytesPerSecond 0 for no limit
     * @param concurrency objects at a time
     * @param toDisk whether the objects are put on disk, instead of memory
     */
    record Plan(String bucket, String prefix, @Nullable List<String> keys, String from,
            long bytesPerSecond, int concurrency, boolean toDisk) {}

    private final Services services;
    private final Plan plan;
    private final Authentication.Known caller;
    private final RequestSource requestSource;
    private final VertxInternal vertx;
    private final WarmProgress progress;
    private final RateLimiter rateLimiter;
    private final AtomicLong reservedBytes = new AtomicLong();
    private final AtomicLong keptBytes = new AtomicLong();
    private final Semaphore permits;
    private final Set<WarmRead> reads = ConcurrentHashMap.newKeySet();

    CacheWarming(Services services, Plan plan, Authentication.Known caller,
            RequestSource requestSource) {
        this.services = services;
        this.plan = plan;
        this.caller = caller;
        this.requestSource = requestSource;
        this.vertx = (VertxInternal) services.reads().vertx();
        this.progress = new WarmProgress(System::nanoTime);
        this.rateLimiter = new RateLimiter(plan.bytesPerSecond(), System::nanoTime);
        this.permits = new Semaphore(plan.concurrency());
    }

    WarmProgress progress() {
        return progress;
    }

    /** Returns the result; if the cache is full, with its sizes. */
    JsonObject ended() {
        JsonObject ended = progress.ended();
        if (ended.getString("state").equals("full")) {
            ended.put("cache_bytes", capacityBytes())
                    .put("room_bytes", Math.max(0, roomBytes()));
        }
        return ended;
    }

    private CacheControl cache() {
        return services.reads().cache().control();
    }

    private long capacityBytes() {
        return plan.toDisk()
                ? cache().bytesBelow(caller.principal().tenant())
                : cache().capacityBytes();
    }

    /** Returns how much more evicts nothing; on disk, nothing that this warming has put there. */
    private long roomBytes() {
        return plan.toDisk() ? capacityBytes() - keptBytes.get() : cache().roomBytes();
    }

    /** Runs until nothing is under way any more; an interrupt ends it early. */
    void run() throws InterruptedException {
        try {
            warm();
            permits.acquire(plan.concurrency());
        } catch (InterruptedException e) {
            progress.stop("cancelled", "");
            reads.forEach(WarmRead::cancel);
            permits.acquireUninterruptibly(plan.concurrency());
            throw e;
        }
    }

    private void warm() throws InterruptedException {
        List<String> keys = plan.keys();
        if (keys != null) {
            begin(keys.stream().map(Listing.Entry::of).toList());
            return;
        }
        String token = null;
        boolean first = true;
        while (!progress.isStopped() && (first || token != null)) {
            Listing page = tryList(token, first);
            if (page == null) {
                return;
            }
            first = false;
            begin(page.entries());
            token = page.next();
        }
    }

    private void begin(List<Listing.Entry> entries) throws InterruptedException {
        for (Listing.Entry entry : entries) {
            // Some stores ignore start-after.
            if (plan.keys() != null || isAfter(entry.key(), plan.from())) {
                permits.acquire();
                if (progress.isStopped()) {
                    permits.release();
                    return;
                }
                begin(entry);
            }
        }
    }

    private static boolean isAfter(String key, String from) {
        return Arrays.compareUnsigned(key.getBytes(StandardCharsets.UTF_8),
                from.getBytes(StandardCharsets.UTF_8)) > 0;
    }

    private void begin(Listing.Entry entry) {
        WarmProgress.Item item = progress.begin(entry.key());
        S3Request request;
        try {
            request = request(Address.ofObject(plan.bucket(), entry.key()), Map.of());
        } catch (S3Refusal denied) {
            ended(item, Outcome.REFUSED, 0, denied.detail());
            return;
        }
        if (isHeld(request.objectId(), entry)) {
            ended(item, Outcome.HELD, 0, "");
            return;
        }
        WarmRead[] self = new WarmRead[1];
        WarmRead read = new WarmRead(services.reads(), request, vertx.createEventLoopContext(),
                this, plan.toDisk(), (outcome, bytes, detail) -> {
                    reads.remove(self[0]);
                    ended(item, outcome, bytes, detail);
                });
        self[0] = read;
        reads.add(read);
        read.start(entry.sizeBytes());
    }

    private void ended(WarmProgress.Item item, Outcome outcome, long bytes, String detail) {
        progress.ended(item, outcome, bytes, detail);
        permits.release();
    }

    /** Returns whether the object is cached: a listing's entry suffices to compare the version. */
    private boolean isHeld(ObjectId id, Listing.Entry entry) {
        ObjectMetadata held = services.reads().cache().find(id);
        return held != null && held.version().etag().equals(entry.etag())
                && held.version().sizeBytes() == entry.sizeBytes()
                && (plan.toDisk()
                        ? cache().holdsBelow(held.version(), 0, entry.sizeBytes())
                        : services.reads().cache().holds(held.version(), 0, entry.sizeBytes()));
    }

    private S3Request request(Address address, Map<String, String> query) {
        return services.request(caller, requestSource, address, query);
    }

    /**
     * Returns a page of the listing; null, after stopping, if the store did not list. A refusal of
     * the first page is thrown.
     */
    private @Nullable Listing tryList(@Nullable String token, boolean first)
            throws InterruptedException {
        Map<String, String> query = new LinkedHashMap<>();
        query.put("list-type", "2");
        query.put("prefix", plan.prefix());
        query.put("start-after", plan.from());
        query.put("continuation-token", token == null ? "" : token);
        try {
            Listing page = list(request(new Address(plan.bucket(), "", ""), query));
            if (token != null && token.equals(page.next())) {
                throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                        "The store's listing does not advance.");
            }
            return page;
        } catch (S3Refusal e) {
            if (first) {
                throw e;
            }
            progress.stop("failed", e.detail());
            return null;
        }
    }

    private Listing list(S3Request request) throws InterruptedException {
        BackendResponse answer = await(request.store()
                .send(new BackendRequest("GET", request.target(), Headers.NONE,
                        new Payload.Empty(), request.caller(), null)));
        if (answer.isSuccess()) {
            return Listing.parse(await(BodyDrain.collect(answer.body(), MAX_LISTING_BYTES)));
        }
        BodyDrain.discard(answer.body());
        throw switch (answer.status()) {
            case 404 -> new S3Refusal(S3Error.NO_SUCH_BUCKET);
            case 401, 403 -> new S3Refusal(S3Error.ACCESS_DENIED, "The store does not let "
                    + requestSource.principal() + " list " + plan.bucket() + ".");
            default -> new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "The store answered " + answer.status() + " to the listing.");
        };
    }

    private static <T> T await(CompletionStage<T> stage) throws InterruptedException {
        try {
            return stage.toCompletableFuture().get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (StoreErrors.of(cause) instanceof S3Refusal refusal) {
                throw refusal;
            }
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE,
                    "The store behind the gateway did not answer: " + cause.getMessage());
        }
    }

    @Override
    public boolean tryReserve(ObjectId id, long bytes) {
        long all = reservedBytes.addAndGet(bytes) + slackBytes();
        boolean room = plan.toDisk() ? all <= roomBytes() : cache().hasRoomFor(id, all);
        if (!room) {
            reservedBytes.addAndGet(-bytes);
        }
        return room;
    }

    /**
     * Returns a tolerance: a page may be uncounted for a moment, between its fill and the index.
     */
    private long slackBytes() {
        return (long) plan.concurrency() * services.reads().cache().pageBytes();
    }

    @Override
    public void release(long bytes) {
        reservedBytes.addAndGet(-bytes);
    }

    @Override
    public void kept(long bytes) {
        keptBytes.addAndGet(bytes);
    }

    @Override
    public void whenAllowed(long bytes, Runnable then) {
        long millis = TimeUnit.NANOSECONDS.toMillis(rateLimiter.delayNanos(bytes));
        if (millis == 0) {
            then.run();
        } else {
            vertx.setTimer(millis, _ -> then.run());
        }
    }
}
