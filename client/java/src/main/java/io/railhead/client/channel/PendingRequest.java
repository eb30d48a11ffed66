package io.railhead.client.channel;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;

/** A peer's request whose answer is to come. */
final class PendingRequest extends Awaited<Answer> {
    final Request request;
    /** Or may have been, where sending failed. The outbox's lock guards it. */
    boolean sent;
    /** A request is cancelled once: the gateway has room for one CANCEL each. */
    boolean cancelled;

    PendingRequest(Request request) {
        this.request = request;
    }
}
