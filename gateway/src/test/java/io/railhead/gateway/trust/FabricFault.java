package io.railhead.gateway.trust;

/** What an adapter may do to the transfers of a step. */
public enum FabricFault {
    NONE,
    /** It is down, and comes back. */
    DOWN,
    /** Work requests end in error, and nothing has moved. */
    ERROR,
    /** They end in error, and all has moved: the peer's acknowledgement was lost. */
    ERROR_AFTER_ALL,
    /** All has moved, and nobody is told before the fence. */
    LOST_COMPLETION,
    /** Nothing moves, and nobody is told before the fence. */
    STUCK,
    /** Completions come milliseconds late, on another thread. */
    LATE_COMPLETION
}
