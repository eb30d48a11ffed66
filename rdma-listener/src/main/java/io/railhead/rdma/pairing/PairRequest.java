package io.railhead.rdma.pairing;

import io.railhead.os.adapter.QueuePairEnd;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A peer that wants a queue pair of the gateway's for one of its own.
 *
 * @param arrivedAt the gateway's address that the peer spoke to: of several adapters that could
 *            serve it, the one with this address does; null where there is none
 * @param staging the peer will write into memory of the gateway; null if it never does
 */
public record PairRequest(String principal, QueuePairEnd peer, @Nullable InetAddress arrivedAt,
        @Nullable Staging staging) {

    /**
     * Memory that the peer alone may write, once.
     *
     * @param bytes of it, all of which the peer writes
     * @param cookie the immediate value that says it has
     */
    public record Staging(long bytes, int cookie) {
        public Staging {
            if (bytes < 1 || bytes > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("bytes must be 1 to 2^31 - 1: " + bytes);
            }
        }
    }
}
