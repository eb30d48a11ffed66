package io.railhead.os.verbs;

import java.io.IOException;

/**
 * A handle to one port of the fabric, for any initiator of its protection domain: struct ibv_ah.
 * Any thread.
 */
public interface AddressHandle extends AutoCloseable {

    /**
     * Destroys the handle, once. No call to {@link DcInitiator#target} may be using it. Posted
     * requests are not affected: each carries a copy.
     */
    @Override
    void close() throws IOException;
}
