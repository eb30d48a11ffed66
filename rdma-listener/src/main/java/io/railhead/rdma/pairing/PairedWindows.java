package io.railhead.rdma.pairing;

import io.railhead.protocol.token.RcToken;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;

/**
 * The memory windows that the tokens of paired sessions name. Any thread.
 *
 * @param fabric the fabric of the sessions
 */
public record PairedWindows(Fabric fabric) {

    /**
     * Returns the window, checked to belong to a session of the principal. Throws
     * {@code TransferException} with its reason.
     */
    public RemoteBuffer resolve(String principal, RcToken token) {
        Pairing pairing = fabric.pairing()
                .orElseThrow(() -> new TransferException(Reason.UNAVAILABLE,
                        fabric.name() + ": " + fabric.health().reason()));
        return pairing.require(principal, token.session())
                .window(token.address(), token.length(), token.key());
    }
}
