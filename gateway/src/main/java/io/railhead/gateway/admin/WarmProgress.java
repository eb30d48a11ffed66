package io.railhead.gateway.admin;

import io.railhead.gateway.object.read.WarmRead.Outcome;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The progress of a warming. Any thread. */
final class WarmProgress {
    /** The number of failures in a row that show a fault of the store, not of single objects. */
    private static final int MAX_FAILURES = 10;

    private final LongSupplier nanoClock;
    private final long beganAtNanos;
    private final Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
    private final ArrayDeque<Item> items = new ArrayDeque<>();
    private long bytes;
    private int failuresInARow;
    private String lastKey = "";
    private String reason = "";
    private @Nullable String stopped;

    WarmProgress(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        this.beganAtNanos = nanoClock.getAsLong();
    }

    /** One object, in the order of the listing. */
    static final class Item {
        private final String key;
        private @Nullable Outcome outcome;

        private Item(String key) {
            this.key = key;
        }
    }

    synchronized Item begin(String key) {
        Item item = new Item(key);
        items.add(item);
        return item;
    }

    synchronized void ended(Item item, Outcome outcome, long fetchedBytes, String detail) {
        item.outcome = outcome;
        counts.merge(outcome, 1L, Long::sum);
        bytes += fetchedBytes;
        failuresInARow = outcome == Outcome.FAILED ? failuresInARow + 1 : 0;
        if (outcome == Outcome.FULL) {
            stop("full", detail);
        } else if (outcome == Outcome.FAILED) {
            reason = item.key + ": " + detail;
            if (failuresInARow == MAX_FAILURES) {
                stop("failed", reason);
            }
        }
        while (!items.isEmpty() && isDone(items.getFirst().outcome)) {
            lastKey = items.removeFirst().key;
        }
    }

    /** Returns whether the object need not be tried again. */
    private static boolean isDone(@Nullable Outcome outcome) {
        return switch (outcome) {
            case HELD, FILLED, NOT_CACHED, REFUSED -> true;
            case FULL, FAILED, CANCELLED -> false;
            case null -> false;
        };
    }

    /** Stops the warming: no further object is begun. The first reason stays. */
    synchronized void stop(String state, String why) {
        if (stopped == null) {
            stopped = state;
            reason = why;
        }
    }

    synchronized boolean isStopped() {
        return stopped != null;
    }

    JsonObject running() {
        return line("running");
    }

    synchronized JsonObject ended() {
        String state = stopped;
        if (state == null) {
            state = count(Outcome.FAILED) > 0 ? "failed" : "done";
        }
        return line(state);
    }

    private long count(Outcome outcome) {
        return counts.getOrDefault(outcome, 0L);
    }

    private synchronized JsonObject line(String state) {
        double seconds = Math.max(1, nanoClock.getAsLong() - beganAtNanos) / 1e9;
        JsonObject line = JsonObject.of("state", state,
                "objects", count(Outcome.FILLED), "bytes", bytes,
                "bytes_per_second", Math.round(bytes / seconds),
                "held", count(Outcome.HELD), "not_cached", count(Outcome.NOT_CACHED),
                "refused", count(Outcome.REFUSED), "failed", count(Outcome.FAILED),
                "last_key", lastKey);
        return reason.isEmpty() ? line : line.put("reason", reason);
    }
}
