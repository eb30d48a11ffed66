package io.railhead.protocol.message;

import java.io.IOException;

/** Bytes that are no message, or a message out of order: the connection must be closed. */
public final class MessageException extends IOException {
    private static final long serialVersionUID = 1L;

    public MessageException(String message) {
        super(message);
    }
}
