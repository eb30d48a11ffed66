package io.railhead.gateway.request;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * The receiver of one response, over HTTP or the native channel. All calls are on its executor,
 * which runs one task at a time; a task that throws fails the request.
 */
public interface ResponseSink {

    Executor executor();

    /**
     * Runs a step once a stage has completed: at once if it has already, otherwise on the executor.
     * The step runs even if the requester has gone meanwhile.
     *
     * @param stage never fails
     */
    default void after(CompletionStage<?> stage, Runnable step) {
        if (stage.toCompletableFuture().isDone()) {
            step.run();
        } else {
            stage.whenComplete((_, _) -> executor().execute(step));
        }
    }

    /** Returns the time of arrival, on the clock of {@link System#nanoTime}. */
    long arrivedAtNanos();

    /** Returns whether the client has gone or needs no response any more. */
    boolean isOver();

    /**
     * Registers a listener that is called once if the client goes away, or cancels, before it has a
     * response.
     */
    void onClosed(Runnable listener);

    /** Answers with an error. */
    void fail(Throwable cause);
}
