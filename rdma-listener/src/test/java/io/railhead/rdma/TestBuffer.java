package io.railhead.rdma;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Memory that a {@link TestPeer} registered, as the peer sees it. */
public interface TestBuffer {

    int key();

    long address();

    MemorySegment memory();

    /** Returns when the fabric no longer touches the memory; it stays readable for the test. */
    void deregister() throws IOException;
}
