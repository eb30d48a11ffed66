package io.railhead.client.verbs;

import static java.util.Objects.requireNonNull;

import io.railhead.protocol.channel.EndedMessage;
import java.io.IOException;

/** The session is over, with the gateway's reason and the outcome of its requests. */
public final class SessionEndedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final transient EndedMessage endedMessage;

    SessionEndedException(EndedMessage endedMessage) {
        super("the session has ended: " + endedMessage.reason());
        this.endedMessage = requireNonNull(endedMessage, "ended is null");
    }

    public EndedMessage ended() {
        return endedMessage;
    }
}
