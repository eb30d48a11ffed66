package io.railhead.protocol.message;

import java.io.IOException;

/**
 * The messages of a channel besides requests and answers, which are the package {@code channel}'s.
 * A session begins with
 *
 * <pre>
 *   peer                        gateway
 *   HELLO       ───────────────▶          id and nonce
 *               ◀─────────────── CHALLENGE its nonce
 *   PROOF       ───────────────▶          knows the session key
 *               ◀─────────────── WELCOME   so does the gateway
 * </pre>
 *
 * and then the peer asks one of these at a time, while requests and answers go their own way:
 *
 * <pre>
 *   REGISTER    ───────────────▶
 *               ◀─────────────── SEND_DESCRIPTOR                    over loopback only
 *   (1 byte with the memfd)  ──▶          SCM_RIGHTS, not a message   over loopback only
 *               ◀─────────────── REGISTERED
 *   ATTACH      ───────────────▶
 *               ◀─────────────── CHALLENGE                          over loopback only
 *   PROOF       ───────────────▶          once the nonce lies in the peer's memory
 *               ◀─────────────── REGISTERED
 *   DEREGISTER  ───────────────▶
 *               ◀─────────────── DEREGISTERED, once no copy touches the memory
 *   PING        ───────────────▶
 *               ◀─────────────── PONG
 *   BYE         ───────────────▶ closes
 * </pre>
 *
 * REFUSED may stand in for any answer; after one to HELLO or PROOF the gateway closes. What is out
 * of order closes the connection, and with it the session.
 */
public sealed interface Message {

    /**
     * This message, as the answer that is wanted.
     *
     * @throws RefusedException if it is REFUSED
     * @throws MessageException if it is anything else
     */
    default <M extends Message> M require(Class<M> type) throws IOException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        if (this instanceof Refused(var reason)) {
            throw new RefusedException(reason);
        }
        throw new MessageException(this + " does not answer this");
    }

    /** Names the session that the HTTP open answered, 32 hex digits. */
    record Hello(String sessionId, Bytes32 nonce) implements Message {}

    record Challenge(Bytes32 nonce) implements Message {}

    record Proof(Bytes32 proof) implements Message {}

    /**
     * The session is open.
     *
     * @param session its number, for tokens
     */
    record Welcome(Bytes32 proof, int session, SessionLimits limits) implements Message {}

    record Refused(Refusal reason) implements Message {}

    /**
     * Asks for a buffer to be taken in.
     *
     * @param baseAddress how the peer calls the memory's first byte
     * @param remoteKey the adapter's key (rkey) of the memory; 0 over loopback, where the memory's
     *            descriptor follows
     */
    record Register(long baseAddress, long length, int remoteKey) implements Message {}

    record SendDescriptor() implements Message {}

    /**
     * Asks for memory of the peer's own process to be taken in as a buffer, unshared: over
     * loopback, where the gateway is configured to. CHALLENGE answers it.
     *
     * @param proofAddress where the peer, before it says PROOF, writes the challenge's nonce
     */
    record Attach(long baseAddress, long length, long proofAddress) implements Message {}

    record Registered(int key) implements Message {}

    record Deregister(int key) implements Message {}

    record Deregistered(int key) implements Message {}

    record Ping(long value) implements Message {}

    record Pong(long value) implements Message {}

    record Bye() implements Message {}

    /** The peer wants no answer to this request any more; there is one still. */
    record Cancel(int requestId) implements Message {}
}
