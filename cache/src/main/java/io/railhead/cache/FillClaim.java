package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to fetch one page, and those who wait for it. It is settled once: filled, while the
 * fill still owns the page, so that a waiter told of it can retain it; or failed. Waiters are a
 * lock-free stack and are called exactly once, on the settling thread, or at once if late.
 */
final class FillClaim {

    /** Is told; cheap, since it runs on the fill's thread: hop to your own. */
    interface Waiter {
        void settled(Outcome outcome);
    }

    sealed interface Outcome {}

    record Filled(Page page) implements Outcome {}

    record Failed(FillException cause) implements Outcome {}

    private sealed interface Stack {}

    private record Node(@Nullable Waiter waiter, @Nullable Node next) implements Stack {}

    private record Settled(Outcome outcome) implements Stack {}

    private static final Node NOBODY = new Node(null, null);

    private final PageKey key;
    private final long generation;
    private final String tenant;
    private final AtomicReference<Stack> stack = new AtomicReference<>(NOBODY);

    /** @param tenant whom it is fetched for */
    FillClaim(PageKey key, long generation, String tenant) {
        this.key = key;
        this.generation = generation;
        this.tenant = tenant;
    }

    PageKey key() {
        return key;
    }

    /** The key's generation when it was claimed. */
    long generation() {
        return generation;
    }

    String tenant() {
        return tenant;
    }

    void whenSettled(Waiter waiter) {
        while (true) {
            switch (stack.get()) {
                case Settled settled -> {
                    waiter.settled(settled.outcome());
                    return;
                }
                case Node top -> {
                    if (stack.compareAndSet(top, new Node(waiter, top))) {
                        return;
                    }
                }
            }
        }
    }

    /** @return whether anybody waited */
    boolean settle(Outcome outcome) {
        return switch (stack.getAndSet(new Settled(outcome))) {
            case Settled _ -> throw new IllegalStateException("claim settled twice");
            case Node top -> {
                boolean awaited = false;
                for (Node node = top; node != null; node = node.next()) {
                    if (node.waiter() != null) {
                        node.waiter().settled(outcome);
                        awaited = true;
                    }
                }
                yield awaited;
            }
        };
    }
}
