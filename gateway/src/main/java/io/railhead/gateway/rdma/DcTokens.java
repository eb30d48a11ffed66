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
 * Tokens that name a DC target of the client's adapter. No session was opened for such a token, and
 * the token does not prove whose memory it names. Any thread.
 *
 * @param fabric the fabric that reaches targets
 * @param reasonAgainst the reason of a decline if such tokens are not served now; else null
 */
public record DcTokens(Fabric fabric, Supplier<@Nullable String> reasonAgainst) {

    /** Returns why such tokens are declined, whatever their sender; null if they are served. */
    @Nullable
    String findObstacle() {
        return fabric.health().usable() ? reasonAgainst.get() : "fabric";
    }

    /**
     * Returns the client's memory. Throws {@code S3Refusal} if the memory is on another machine
     * than the client's and that machine is not on the principal's list.
     *
     * @param peer the TCP connection's peer; null if unknown
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
