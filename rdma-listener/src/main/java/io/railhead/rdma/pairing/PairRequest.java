package io.railhead.rdma.pairing;

import io.railhead.os.adapter.QueuePairEnd;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A peer's request for a gateway queue pair for one of its own.
 *
 * @param arrivedAt the gateway's address that the peer used: of several suitable adapters, the one
 *            with this address is taken; null if unknown
 * @param staging memory of the gateway that the peer will write; null if it never does
 */
public record PairRequest(String principal, QueuePairEnd peer, @Nullable InetAddress arrivedAt,
        @Nullable Staging staging) {

    /**
     * Memory that only the peer may write, once.
     *
     * @param bytes its size, all of which the peer writes
     * @param cookie the immediate value that reports the end of the write
     */
    public record Staging(long bytes, int cookie) {
        public Staging {
            if (bytes < 1 || bytes > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("bytes must be 1 to 2^31 - 1: " + bytes);
            }
        }
    }
}
