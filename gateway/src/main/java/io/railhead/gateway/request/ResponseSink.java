package io.railhead.gateway.request;

import java.util.concurrent.Executor;

/**
 * The receiver of one response, whichever way the request came. Everything happens on its executor,
 * which runs one task at a time; a task that throws fails the request.
 */
public interface ResponseSink {

    Executor executor();

    /** On the clock of {@link System#nanoTime}. */
    long arrivedAtNanos();

    /** Whether nobody can hear an answer any more, or wants one. */
    boolean isOver();

    /** Called once if the requester goes away, or wants no answer any more, before it has one. */
    void onClosed(Runnable listener);

    /** Answers with an error. */
    void fail(Throwable cause);
}
