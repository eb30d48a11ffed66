package io.railhead.cache;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The removals below one prefix that a subscriber has not taken yet: at most so many. If more come,
 * all of them are dropped and counted, and the subscriber learns that it lost some. A removal is
 * here after the object is gone for everybody. Any thread; nothing waits but for a few
 * instructions.
 */
public final class RemovalQueue implements AutoCloseable {
    private final Removals removals;
    private final Removals.Scope scope;
    private final String prefix;
    private final int mostKeys;
    private final Runnable listener;
    private final Queue<Removal> untold = new ArrayDeque<>();
    private boolean anew = true;
    private boolean closed;

    /**
     * The removals that a subscriber takes at once.
     *
     * @param anew whether removals before these were not told: those before the subscription, or
     *            those that the queue had no room for
     */
    public record Taken(boolean anew, List<Removal> removals) {
        public boolean isEmpty() {
            return !anew && removals.isEmpty();
        }
    }

    RemovalQueue(Removals removals, Removals.Scope scope, String prefix, int mostKeys,
            Runnable listener) {
        this.removals = removals;
        this.scope = scope;
        this.prefix = prefix;
        this.mostKeys = mostKeys;
        this.listener = listener;
    }

    Removals.Scope scope() {
        return scope;
    }

    /** Adds a removal if its key is below the prefix. */
    void offer(Removal removal) {
        if (removal.key().startsWith(prefix) && tryAdd(removal)) {
            listener.run();
        }
    }

    private synchronized boolean tryAdd(Removal removal) {
        if (closed) {
            return false;
        }
        if (untold.size() == mostKeys) {
            removals.noteLost(mostKeys);
            untold.clear();
            anew = true;
        }
        return untold.add(removal);
    }

    /** Takes all that is here. */
    public synchronized Taken take() {
        Taken taken = new Taken(anew, new ArrayList<>(untold));
        untold.clear();
        anew = false;
        return taken;
    }

    /** Ends the subscription. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            untold.clear();
        }
        removals.remove(this);
    }
}
