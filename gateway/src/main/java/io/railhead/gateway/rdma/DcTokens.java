package io.railhead.gateway.rdma;

import io.railhead.gateway.authorization.PeerAddresses;
import io.railhead.gateway.identity.Principal;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.os.adapter.GidBytes;
import io.railhead.protocol.token.Token;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.dc.DcClient;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that name a target of the client's adapter. Nothing was opened for one, and nothing in it
 * proves whose memory it names. Any thread.
 *
 * @param fabric that reaches targets
 * @param reasonAgainst why there may be none now, as the reason of a decline; null if there may
 */
public record DcTokens(Fabric fabric, Supplier<@Nullable String> reasonAgainst) {

    /** Why such a token is declined, whoever sends it; null if it is not. */
    @Nullable
    String findObstacle() {
        return fabric.health().usable() ? reasonAgainst.get() : "fabric";
    }

    /**
     * The client's memory. Throws {@code S3Refusal} where it is on another machine than the
     * client's and not on the principal's list.
     *
     * @param peer of the TCP connection; null where it is not known
     */
    RemoteBuffer resolve(Principal principal, Token token, @Nullable InetAddress peer) {
        byte[] gid = HexFormat.of().parseHex(token.gid());
        if (!token.hasGid() || !PeerAddresses.allow(principal, gid, peer)) {
            throw new S3Refusal(S3Error.RDMA_FOREIGN_ADDRESS);
        }
        return new RemoteBuffer(new DcClient(principal.name(), principal.tenant(),
                GidBytes.read(gid), token.lid(), token.session()), token.address(),
                token.length(), token.key());
    }
}
