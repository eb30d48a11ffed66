package io.railhead.client.channel;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;

/** A request whose answer has not come yet. */
final class PendingRequest extends Awaited<Answer> {
    final Request request;
    /** True if it was sent, or may have been when sending failed. Guarded by the outbox's lock. */
    boolean sent;
    /**
     * True once it was cancelled. It is cancelled once, since the gateway has room for one CANCEL
     * each.
     */
    boolean cancelled;

    PendingRequest(Request request) {
        this.request = request;
    }
}
