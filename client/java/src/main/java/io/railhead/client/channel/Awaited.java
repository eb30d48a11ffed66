package io.railhead.client.channel;

import java.util.concurrent.CompletableFuture;

/** A response that a caller waits for. */
class Awaited<T> extends CompletableFuture<T> {
    /** True if the channel's reading thread must receive it. Guarded by the outbox's lock. */
    boolean left;
}
