package io.railhead.rdma.poller;

/** Something posted to a send queue, of one or more work requests. */
public interface Work {

    /**
     * Heard once, on the poller: the adapter touches none of this work's memory any more.
     *
     * @param arrived whether every byte is where it should be
     */
    void ended(boolean arrived);
}
