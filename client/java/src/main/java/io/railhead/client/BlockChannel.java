package io.railhead.client;

import io.railhead.protocol.channel.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The client's channel as a namespace of blocks uses it. Requests are never sent over HTTP instead.
 * Any thread.
 */
public interface BlockChannel {

    /**
     * Sends all requests in as few messages as possible. Never blocks. A window is the gateway's
     * until its request's future has completed. After a {@link MemoryHeldException} it stays the
     * gateway's. A request that the gateway does not know fails with {@link NotAvailableException}.
     */
    List<CompletableFuture<Answer>> send(List<UnboundRequest> requests);

    /** Returns the longest time that a request may take; then its session is ended. */
    Duration timeout();

    /** Sends as {@link #send} does, and waits for all answers, in the requests' order. */
    List<Answer> ask(List<UnboundRequest> requests) throws IOException;
}
