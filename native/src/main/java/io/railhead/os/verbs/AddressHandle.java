package io.railhead.os.verbs;

import java.io.IOException;

/**
 * A way to one port of the fabric, for any initiator of its protection domain: struct ibv_ah. Any
 * thread.
 */
public interface AddressHandle extends AutoCloseable {

    /**
     * Destroys it, once. No call to {@link DcInitiator#target} may be under way with it; requests
     * that were posted are not affected, each carries a copy.
     */
    @Override
    void close() throws IOException;
}
