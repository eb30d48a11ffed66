package io.railhead.protocol.message;

import java.io.IOException;

/**
 * The messages of a session besides requests and answers, which are in the package {@code channel}.
 * A session begins with:
 *
 * <pre>
 *   peer                        gateway
 *   HELLO       ───────────────▶          id and nonce
 *               ◀─────────────── CHALLENGE its nonce
 *   PROOF       ───────────────▶          knows the session key
 *               ◀─────────────── WELCOME   so does the gateway
 * </pre>
 *
 * Then the peer sends one of these at a time. Requests and answers are independent of them:
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
 *   BOUNCE      ───────────────▶          then as REGISTER               over loopback only
 *   DEREGISTER  ───────────────▶
 *               ◀─────────────── DEREGISTERED, once no copy touches the memory
 *   PING        ───────────────▶
 *               ◀─────────────── PONG
 *   BYE         ───────────────▶ closes
 * </pre>
 *
 * The gateway sends SYNC at any time after the REGISTERED of a bounce buffer; SYNCED answers it,
 * among the peer's other messages.
 *
 * <p> REFUSED may replace any response; after a REFUSED to HELLO or PROOF the gateway closes the
 * connection. A message out of order closes the connection, and with it the session.
 */
public sealed interface Message {

    /**
     * Returns this message as the expected response.
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

    /** Names the session by the id that the HTTP open returned, 32 hex digits. */
    record Hello(String sessionId, Bytes32 nonce) implements Message {}

    record Challenge(Bytes32 nonce) implements Message {}

    record Proof(Bytes32 proof) implements Message {}

    /**
     * Reports that the session is open.
     *
     * @param session the session's number, for tokens
     */
    record Welcome(Bytes32 proof, int session, SessionLimits limits) implements Message {}

    record Refused(Refusal reason) implements Message {}

    /**
     * Registers a buffer.
     *
     * @param baseAddress the peer's own address of the first byte
     * @param remoteKey the adapter's key (rkey) of the memory; 0 over loopback, where the memory's
     *            descriptor follows
     */
    record Register(long baseAddress, long length, int remoteKey) implements Message {}

    record SendDescriptor() implements Message {}

    /**
     * Registers private memory of the peer's process as a buffer, over loopback and only if the
     * gateway allows it. CHALLENGE answers it.
     *
     * @param proofAddress where the peer writes the challenge's nonce before it sends PROOF
     */
    record Attach(long baseAddress, long length, long proofAddress) implements Message {}

    /**
     * Registers a bounce buffer, over loopback: the memory's descriptor follows, and SYNC has the
     * peer copy between that memory and its own.
     *
     * @param baseAddress the address, in the peer's own memory, of the bytes that the buffer stands
     *            for
     * @param handle the peer's own name for the buffer, which SYNC repeats
     */
    record Bounce(long baseAddress, long length, long handle) implements Message {}

    /**
     * Asks the peer to copy a range of a bounce buffer.
     *
     * @param toPeer true after a write: out of the buffer, into the peer's own memory; false before
     *            a read: the other way
     * @param offset counts from the buffer's first byte
     */
    record Sync(int id, boolean toPeer, long handle, long offset,
            long length) implements Message {}

    /**
     * Answers SYNC.
     *
     * @param copied false if the peer has no such buffer any more, and copied nothing
     */
    record Synced(int id, boolean copied) implements Message {}

    record Registered(int key) implements Message {}

    record Deregister(int key) implements Message {}

    record Deregistered(int key) implements Message {}

    record Ping(long value) implements Message {}

    record Pong(long value) implements Message {}

    record Bye() implements Message {}

    /** Cancels a request, which still gets its answer. */
    record Cancel(int requestId) implements Message {}
}
