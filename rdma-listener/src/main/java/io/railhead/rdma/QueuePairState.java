package io.railhead.rdma;

/** The state of a gateway's queue pair, from its creation to its destruction. */
public enum QueuePairState {
    /** The peer has not proved its session yet. */
    PROVING,
    /** Serves a session. */
    OPEN,
    /** Posted work completes; nothing new is posted. */
    LEAVING,
    /** In ERR: posted work is flushed before the queue pair is destroyed. */
    BROKEN,
    /**
     * The queue pair could not be destroyed: it and all memory that it may touch stay until the
     * process ends.
     */
    KEPT
}
