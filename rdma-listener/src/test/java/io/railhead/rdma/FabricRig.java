package io.railhead.rdma;

import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;

/** A running fabric and what a test needs beside it. */
public interface FabricRig extends AutoCloseable {

    Fabric fabric();

    ClientSessions sessions();

    TestPeer connect(String principal) throws IOException;

    /** The window that a token of the principal's names, as a gateway finds it. */
    default RemoteBuffer resolve(String principal, int session, long address, long length,
            int key) {
        return sessions().resolve(principal, session, address, length, key);
    }

    FabricStats stats();

    /** Closes the fabric and removes every trace of it; idempotent. */
    @Override
    void close();
}
