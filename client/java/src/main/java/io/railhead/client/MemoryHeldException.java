package io.railhead.client;

import java.io.IOException;

/**
 * A gateway on this host neither answered nor ended the session in time. It may still touch the
 * request's memory, which must not be used again while this process lives.
 */
public final class MemoryHeldException extends IOException {
    private static final long serialVersionUID = 1L;

    MemoryHeldException(IOException cause) {
        super("the gateway did not let go of the memory in time: " + cause.getMessage(), cause);
    }
}
