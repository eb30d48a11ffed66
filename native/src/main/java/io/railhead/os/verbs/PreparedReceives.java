package io.railhead.os.verbs;

/** A chain of receives, used like {@link PreparedSends} and under the same rules. */
public final class PreparedReceives extends PreparedRequests {

    PreparedReceives(int requests, int entriesPerRequest) {
        super(Layout.RecvWr.SIZE, requests, entriesPerRequest);
    }

    public PreparedReceives clear() {
        empty();
        return this;
    }

    /** Appends a request without entries, for messages without a body. */
    public PreparedReceives add(long workRequestId) {
        append(workRequestId);
        return this;
    }

    /** Appends local memory that a message is written to. */
    public PreparedReceives entry(long address, int bytes, int lkey) {
        appendEntry(address, bytes, lkey);
        return this;
    }

    @Override
    int post(Foreign.QueuePair queuePair, long requests, long bad) {
        return queuePair.postReceive(requests, bad);
    }
}
