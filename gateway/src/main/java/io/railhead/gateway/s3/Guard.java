package io.railhead.gateway.s3;

import io.vertx.core.Handler;
import java.util.function.Consumer;

/**
 * Runs steps that have no caller to tell. Whatever one throws, an {@link Error} too, is told:
 * otherwise whoever waits for an answer waits until it gives up. Any thread.
 */
public final class Guard {

    private Guard() {}

    /** @param onThrown hears what the step threw, on the same thread */
    public static void run(Runnable step, Consumer<Throwable> onThrown) {
        try {
            step.run();
        } catch (Throwable thrown) {
            onThrown.accept(thrown);
        }
    }

    /** The same for what an event loop calls. */
    public static <T> Handler<T> handler(Handler<T> step, Consumer<Throwable> onThrown) {
        return event -> run(() -> step.handle(event), onThrown);
    }
}
