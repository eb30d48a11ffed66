package io.railhead.cache;

import io.railhead.cache.memory.Page;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The right to fetch one page, with its waiters. A claim is settled once, as filled or failed. It
 * is filled while the fill still owns the page, so that a waiter can retain the page. Waiters are a
 * lock-free stack. Each is called exactly once, on the settling thread, or at once if it comes
 * late.
 */
final class FillClaim {

    /** A waiter; runs on the fill's thread, so it must be cheap and move work to its own thread. */
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

    /** @param tenant the tenant that the page is fetched for */
    FillClaim(PageKey key, long generation, String tenant) {
        this.key = key;
        this.generation = generation;
        this.tenant = tenant;
    }

    PageKey key() {
        return key;
    }

    /** Returns the key's write epoch at the time of the claim. */
    long generation() {
        return generation;
    }

    String tenant() {
        return tenant;
    }

    /** Returns whether the claim was filled with a page that nobody can retain any more. */
    boolean isEvicted() {
        return stack.get() instanceof Settled(Filled(Page page)) && page.isCondemned();
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

    /** @return whether there was a waiter */
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
