package io.railhead.rdma.poller;

/** A unit of one or more work requests in a send queue. */
public interface Work {

    /**
     * Ends the work; called once, on the poller. The adapter touches none of its memory any more.
     *
     * @param arrived whether every byte has arrived
     */
    void ended(boolean arrived);
}
