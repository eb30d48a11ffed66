package io.railhead.client;

import io.railhead.os.MemoryFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Connects to a gateway's loopback socket; an interface so that a test can be the gateway. */
interface Peers {

    Peer connect(Path socket, String sessionId, byte[] sessionKey, Duration timeout)
            throws IOException;

    /** This process's end of a proven session. */
    interface Peer extends AutoCloseable {
        int sessionNumber();

        /** Gives the gateway the file; answers the key that tokens name it by. */
        int register(MemoryFile file, long baseAddress) throws IOException;

        boolean isOpen();

        @Override
        void close();
    }
}
