package io.railhead.gateway.trust;

/** The places in which a model's gateway keeps objects. */
public enum Storage {
    /** In memory alone. */
    MEMORY,
    /**
     * In memory above a disk, on which the gateway is started again and again: after an orderly
     * end, and after a kill.
     */
    DISK;

    /** Objects that share a name but for its end: with a disk they take more than the memory. */
    int objectsPerName() {
        return this == DISK ? 6 : 1;
    }
}
