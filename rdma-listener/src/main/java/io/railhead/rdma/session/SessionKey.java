package io.railhead.rdma.session;

/** The key that proves a session: derived on both sides, never sent. */
public final class SessionKey {

    private SessionKey() {}

    /**
     * HMAC-SHA256 under the SigV4 signing key of the HTTP open, over the open's own signature and
     * the session id that was answered.
     *
     * @param signingKey
     *            SigV4 key of (secret, date, region, "s3"), 32 bytes
     * @param signature
     *            the open request's signature, 64 hex digits
     * @param sessionId
     *            as answered, 32 hex digits
     */
    public static byte[] derive(byte[] signingKey, String signature, String sessionId) {
        throw new UnsupportedOperationException();
    }
}
