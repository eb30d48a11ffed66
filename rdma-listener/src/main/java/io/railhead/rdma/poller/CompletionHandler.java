package io.railhead.rdma.poller;

/** The handler of a {@link Poller}'s completions. All but {@link #wake} on its thread. */
public interface CompletionHandler {

    /** Handles what has completed, up to a batch; how many. */
    int poll();

    /**
     * Asks for an event at the next completion. What completed before may give none: poll again.
     */
    void arm();

    /** Returns at a completion since {@link #arm}, at {@link #wake}, or after the time. */
    void sleep(long nanos);

    /** Ends the sleep that goes on, or the next. Any thread. */
    void wake();
}
