package io.railhead.gateway.admin;

import io.railhead.cache.CacheControl;
import io.railhead.cache.EvictionCause;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.Selection;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Eviction, erasure and pins. Names apply under every backend and account, as in stores' events.
 */
final class CacheCalls {
    private static final Duration DISK_PATIENCE = Duration.ofSeconds(10);

    private final ObjectCache cache;
    private final CacheControl control;
    private final Supplier<Set<String>> backends;

    CacheCalls(ObjectCache cache, Supplier<Set<String>> backends) {
        this.cache = cache;
        this.control = cache.control();
        this.backends = backends;
    }

    JsonObject evict(AdminCall.Asked asked) throws InterruptedException {
        Selection selection = asked.body().selection();
        asked.body().close();
        CacheControl.Held held = evictFromMemory(selection);
        CompletableFuture<List<String>> first = control.evictBelow(selection);
        // Again: between the two a page may have come from disk into memory, or gone the other way.
        evictFromMemory(selection);
        CompletableFuture<List<String>> second = control.evictBelow(selection);
        // A page that was late on disk may have come into memory before it was evicted there.
        evictFromMemory(selection);
        requireHeard(selection);
        requireDone(first.thenCombine(second, CacheCalls::both),
                "Evicted from memory, and not found"
                        + " on disk any more. But a restart may undo that on disk, since it is not recorded"
                        + " there: ");
        return sizes(held);
    }

    private CacheControl.Held evictFromMemory(Selection selection) {
        CacheControl.Held held = control.evict(selection);
        if (selection.kind() == Selection.Kind.KEY) {
            // Requests under way about the key are in no table, so the key itself is invalidated.
            backends.get()
                    .forEach(backend -> cache.invalidate(
                            new ObjectId(backend, "", selection.bucket(), selection.name(), null),
                            EvictionCause.ADMIN));
        }
        return held;
    }

    /** Waits until no gateway of this cache has the selection; such a wait is bounded. */
    private void requireHeard(Selection selection) throws InterruptedException {
        boolean heard;
        try {
            heard = control.tell(selection)
                    .toCompletableFuture()
                    .get(DISK_PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            heard = false;
        }
        if (!heard) {
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE, "Evicted here, but other gateways"
                    + " of this cache may still have it. Call again.");
        }
    }

    private static List<String> both(List<String> one, List<String> other) {
        return Stream.concat(one.stream(), other.stream()).sorted().distinct().toList();
    }

    /** Erases what a tenant has in memory, and its keys on disk. */
    JsonObject erase(AdminCall.Asked asked) throws InterruptedException {
        String tenant = asked.body().text("tenant");
        asked.body().close();
        if (tenant == null || tenant.isEmpty()) {
            throw CallBody.refusal("tenant must name one.");
        }
        if (!control.canErase()) {
            throw new S3Refusal(S3Error.INVALID_REQUEST, "Nothing on disk is encrypted by tenant"
                    + " (cache.disk.encrypt).").withStatus(409);
        }
        CacheControl.Held held = control.evictTenant(tenant);
        requireErased(tenant);
        // Again: before the key was gone, pages may have come from disk into memory, and gone back.
        CacheControl.Held _ = control.evictTenant(tenant);
        requireErased(tenant);
        CacheControl.Held _ = control.evictTenant(tenant);
        return sizes(held);
    }

    private void requireErased(String tenant) throws InterruptedException {
        requireDone(control.eraseBelow(tenant), "Evicted from memory, and not found on disk any"
                + " more. But the tenant's key may still be on these disks: ");
    }

    /** Waits until nothing is missing on any disk. */
    private static void requireDone(CompletableFuture<List<String>> missing, String what)
            throws InterruptedException {
        String where;
        try {
            where = String.join(", ", missing.get(DISK_PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (ExecutionException | TimeoutException e) {
            where = "those that did not answer";
        }
        if (!where.isEmpty()) {
            throw new S3Refusal(S3Error.SERVICE_UNAVAILABLE, what + where
                    + ". Call again, or empty such a disk before the next start.");
        }
    }

    JsonObject pin(AdminCall.Asked asked) {
        Selection selection = asked.body().selection();
        asked.body().close();
        if (!control.tryPin(selection)) {
            throw new S3Refusal(S3Error.INVALID_REQUEST, "What is held of that is more than may"
                    + " be pinned beside the " + control.pinnedBytes() + " bytes that are: "
                    + control.pinLimitBytes() + " in all (cache.pin_limit), by 1000 pins.")
                    .withStatus(409);
        }
        return pinned();
    }

    JsonObject unpin(AdminCall.Asked asked) {
        Selection selection = asked.body().selection();
        asked.body().close();
        if (!control.unpin(selection)) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "There is no such pin; pins lists those that there are.").withStatus(404);
        }
        return pinned();
    }

    JsonObject pins(AdminCall.Asked asked) {
        asked.body().close();
        JsonArray pins = new JsonArray();
        for (CacheControl.Pinned pin : control.pins()) {
            Selection selection = pin.selection();
            pins.add(sizes(pin.held()).put("bucket", selection.bucket())
                    .put(switch (selection.kind()) {
                        case KEY -> "key";
                        case PREFIX -> "prefix";
                    }, selection.name()));
        }
        return pinned().put("pins", pins);
    }

    private JsonObject pinned() {
        return JsonObject.of("pinned_bytes", control.pinnedBytes(), "limit_bytes",
                control.pinLimitBytes());
    }

    private static JsonObject sizes(CacheControl.Held held) {
        return JsonObject.of("objects", held.objects(), "bytes", held.bytes());
    }
}
