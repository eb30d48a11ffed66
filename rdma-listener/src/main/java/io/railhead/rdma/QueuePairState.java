package io.railhead.rdma;

/** The state of a gateway's queue pair, from its making until it has been destroyed. */
public enum QueuePairState {
    /** Its peer has not proved its session yet. */
    PROVING,
    /** Serves a session. */
    OPEN,
    /** What is posted runs out; nothing new is. */
    LEAVING,
    /** In ERR: what was posted is flushed before it is destroyed. */
    BROKEN,
    /** Could not be destroyed: it and all that it may touch stay until the process ends. */
    KEPT
}
