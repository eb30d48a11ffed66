package io.railhead.rdma.dc;

import io.railhead.rdma.session.ClientSession;
import java.net.InetAddress;

/**
 * A target that a token named: nothing was opened for it, and it is told nothing. What its key
 * allows only its own adapter knows.
 *
 * @param principal who signed the token
 * @param tenant the principal's: initiators are shared within one, and never between two
 * @param gid of the target's port, as an address
 * @param lid of it, on InfiniBand; 0 on RoCE
 * @param number of the target, 24 bits
 */
public record DcClient(String principal, String tenant, InetAddress gid, int lid,
        int number) implements ClientSession {
    private static final int MAX_NUMBER = (1 << 24) - 1;
    private static final int MAX_LID = (1 << 16) - 1;

    public DcClient {
        if (number < 0 || number > MAX_NUMBER) {
            throw new IllegalArgumentException("number must have 24 bits: " + number);
        }
        if (lid < 0 || lid > MAX_LID) {
            throw new IllegalArgumentException("lid must have 16 bits: " + lid);
        }
    }

    @Override
    public String id() {
        return gid.getHostAddress() + " target " + number;
    }

    @Override
    public String fabric() {
        return DcFabric.NAME;
    }

    /** Whether it still is can only be tried. */
    @Override
    public boolean isOpen() {
        return true;
    }
}
