package io.railhead.rdma.poller;

/** The handler of a {@link Poller}'s completions. Its thread only, except {@link #wake}. */
public interface CompletionHandler {

    /** Handles completions, up to a batch; returns how many. */
    int poll();

    /** Requests an event for the next completion. Earlier ones may give none, so poll again. */
    void arm();

    /** Sleeps until a completion since {@link #arm}, until {@link #wake}, or for the given time. */
    void sleep(long nanos);

    /** Ends the current sleep, or the next one. Any thread. */
    void wake();
}
