package io.railhead.rdma.session;

/**
 * What is said on a loopback socket. A session begins with
 *
 * <pre>
 *   peer                        gateway
 *   HELLO       ───────────────▶          id and nonce
 *               ◀─────────────── CHALLENGE its nonce
 *   PROOF       ───────────────▶          knows the session key
 *               ◀─────────────── WELCOME   so does the gateway
 * </pre>
 *
 * and then the peer asks one thing at a time:
 *
 * <pre>
 *   REGISTER    ───────────────▶
 *               ◀─────────────── SEND_DESCRIPTOR
 *   (1 byte with the memfd)  ──▶          SCM_RIGHTS, not a message of this table
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

    /** Names the session that the HTTP open answered, 32 hex digits. */
    record Hello(String sessionId, Octets nonce) implements Message {}

    record Challenge(Octets nonce) implements Message {}

    record Proof(Octets proof) implements Message {}

    /**
     * The session is open.
     *
     * @param session its number, for tokens
     */
    record Welcome(Octets proof, int session, int maxBuffers) implements Message {}

    record Refused(Refusal reason) implements Message {}

    /**
     * Asks for a buffer to be taken in.
     *
     * @param baseAddress how the peer calls the first byte of the memory whose descriptor follows
     */
    record Register(long baseAddress, long length) implements Message {}

    record SendDescriptor() implements Message {}

    record Registered(int key) implements Message {}

    record Deregister(int key) implements Message {}

    record Deregistered(int key) implements Message {}

    record Ping(long value) implements Message {}

    record Pong(long value) implements Message {}

    record Bye() implements Message {}
}
