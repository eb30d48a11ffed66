package io.railhead.gateway.s3;

import io.vertx.core.Handler;
import java.util.function.Consumer;

/**
 * Runs steps that have no caller to report to. Everything thrown is reported, an {@link Error} too:
 * otherwise a client would wait for its response until it times out. Any thread.
 */
public final class Guard {

    private Guard() {}

    /** @param onThrown receives the exception, on the same thread */
    public static void run(Runnable step, Consumer<Throwable> onThrown) {
        try {
            step.run();
        } catch (Throwable thrown) {
            onThrown.accept(thrown);
        }
    }

    /** Guards a handler that an event loop calls. */
    public static <T> Handler<T> handler(Handler<T> step, Consumer<Throwable> onThrown) {
        return event -> run(() -> step.handle(event), onThrown);
    }
}
