package io.railhead.rdma;

import io.railhead.rdma.session.Sessions;
import java.io.IOException;

/** A running fabric and what a test needs beside it. */
public interface FabricRig extends AutoCloseable {

    Fabric fabric();

    Sessions sessions();

    TestPeer connect(String principal) throws IOException;

    FabricStats stats();

    /** Closes the fabric and removes every trace of it; idempotent. */
    @Override
    void close();
}
