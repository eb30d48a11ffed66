package io.railhead.rdma;

import java.io.IOException;

/** The other side of a fabric, with a session of its own. */
public interface TestPeer extends AutoCloseable {

    int sessionNumber();

    TestBuffer register(long bytes) throws IOException;

    /** Goes away without a word, as a killed process does. Its memory stays for the test to see. */
    void die();

    /** Whether it has heard that the session is over. */
    boolean heardEnd();

    @Override
    void close();
}
