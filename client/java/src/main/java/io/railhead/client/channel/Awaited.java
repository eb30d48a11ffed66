package io.railhead.client.channel;

import java.util.concurrent.CompletableFuture;

/** An outstanding wait of a peer. */
class Awaited<T> extends CompletableFuture<T> {
    /** Whether the channel's reading thread is to see to it. The outbox's lock guards it. */
    boolean left;
}
