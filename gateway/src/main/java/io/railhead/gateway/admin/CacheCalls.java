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

/** Eviction and pins. Names apply under every backend and account, as in stores' events. */
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
        CacheControl.Held held = control.evict(selection);
        if (selection.kind() == Selection.Kind.KEY) {
            // Requests under way about the key are in no table, so the key itself is invalidated.
            backends.get()
                    .forEach(backend -> cache.invalidate(
                            new ObjectId(backend, "", selection.bucket(), selection.name(), null),
                            EvictionCause.ADMIN));
        }
        requireRecorded(control.evictBelow(selection));
        return sizes(held);
    }

    /** Waits until a restart cannot undo an eviction. */
    private static void requireRecorded(CompletableFuture<List<String>> unrecorded)
            throws InterruptedException {
        List<String> disks;
        try {
            disks = unrecorded.get(DISK_PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw unrecorded("the disks did not answer");
        }
        if (!disks.isEmpty()) {
            throw unrecorded(String.join(", ", disks));
        }
    }

    private static S3Refusal unrecorded(String where) {
        return new S3Refusal(S3Error.SERVICE_UNAVAILABLE, "Evicted from memory, and not found on"
                + " disk any more. But a restart may undo that on disk, since it is not recorded"
                + " there: " + where + ". Call again, or empty such a disk before the next start.");
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
