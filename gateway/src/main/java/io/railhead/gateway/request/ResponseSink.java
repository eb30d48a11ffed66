package io.railhead.gateway.request;

import java.util.concurrent.Executor;

/**
 * The receiver of one response, over HTTP or the native channel. All calls are on its executor,
 * which runs one task at a time; a task that throws fails the request.
 */
public interface ResponseSink {

    Executor executor();

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
