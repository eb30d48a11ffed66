package io.railhead.rdma.dc;

import io.railhead.rdma.session.ClientSession;
import java.net.InetAddress;

/**
 * A DC target that a token named. No session was opened for it, and it is sent no message. Only the
 * client's own adapter knows what the key allows.
 *
 * @param principal the signer of the token
 * @param tenant the principal's tenant: initiators are shared within one, never between two
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

    /** Returns true: whether the target exists shows only when it is used. */
    @Override
    public boolean isOpen() {
        return true;
    }
}
