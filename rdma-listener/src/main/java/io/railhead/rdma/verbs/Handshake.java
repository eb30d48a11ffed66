package io.railhead.rdma.verbs;

import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.rdma.session.PeerSession;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The exchange of HELLO and its response.
 *
 * @param over messages for the peer in place of WELCOME, if its session is over; else empty
 */
record Handshake(PeerSession session, Bytes32 clientNonce, Bytes32 serverNonce,
        List<ByteBuffer> over) {

    ByteBuffer challenge() {
        return MessageCodec.encode(new Challenge(serverNonce));
    }

    boolean isProvenBy(Bytes32 proof) {
        return session.isProvenBy(proof, clientNonce, serverNonce);
    }

    /** Returns the proof that the gateway has the key too. */
    Bytes32 serverProof() {
        return session.serverProof(clientNonce, serverNonce);
    }
}
