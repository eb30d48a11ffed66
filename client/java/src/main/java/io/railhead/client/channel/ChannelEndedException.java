package io.railhead.client.channel;

import io.railhead.protocol.message.EndReason;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The channel ended before the answer came. */
public final class ChannelEndedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final @Nullable EndReason reason;
    private final boolean outcomeUnknown;

    public ChannelEndedException(@Nullable EndReason reason, boolean outcomeUnknown) {
        super("the channel ended" + (reason == null ? "" : ": " + reason.word())
                + (outcomeUnknown ? "; whether the object was stored is unknown" : ""));
        this.reason = reason;
        this.outcomeUnknown = outcomeUnknown;
    }

    /** Returns the gateway's reason; null if it gave none. */
    public @Nullable EndReason reason() {
        return reason;
    }

    /** Returns whether a write may have been performed. */
    public boolean isOutcomeUnknown() {
        return outcomeUnknown;
    }
}
