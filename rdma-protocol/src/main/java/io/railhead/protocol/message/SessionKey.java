package io.railhead.protocol.message;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The key that proves a session: derived on both sides, never sent. */
public final class SessionKey {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String KEY_LABEL = "railhead session key";
    private static final String CLIENT_LABEL = "railhead client proof";
    private static final String SERVER_LABEL = "railhead server proof";

    private static final Pattern AUTHORIZATION = Pattern.compile(
            "AWS4-HMAC-SHA256 Credential=[^,]+/(\\d{8})/([^/,]+)/([^/,]+)/aws4_request,"
                    + ".*Signature=([0-9a-f]{64})");

    private SessionKey() {}

    /**
     * Derives the session's key on the side that signed the HTTP open.
     *
     * @param authorization the header of the open request
     * @param sessionId the returned id, 32 hex digits
     */
    public static byte[] ofOpen(String secret, String authorization, String sessionId) {
        Matcher match = AUTHORIZATION.matcher(authorization);
        if (!match.matches()) {
            throw new IllegalStateException("not a SigV4 header: it has no scope or signature");
        }
        return derive(
                SigningKey.derive(secret, match.group(1), match.group(2), match.group(3)).reveal(),
                match.group(4), sessionId);
    }

    /**
     * HMAC-SHA256 under the SigV4 signing key of the HTTP open, over the open's own signature and
     * the session id that was answered.
     *
     * @param signingKey SigV4 key of (secret, date, region, "s3"), 32 bytes
     * @param signature the open request's signature, 64 hex digits
     * @param sessionId the returned id, 32 hex digits
     */
    public static byte[] derive(byte[] signingKey, String signature, String sessionId) {
        Mac mac = mac(signingKey);
        mac.update(KEY_LABEL.getBytes(US_ASCII));
        mac.update(HexFormat.of().parseHex(signature));
        return mac.doFinal(HexFormat.of().parseHex(sessionId));
    }

    /** Returns the proof that the peer sends to show that it has the key. */
    public static Bytes32 clientProof(byte[] sessionKey, String sessionId, Bytes32 clientNonce,
            Bytes32 serverNonce) {
        return proof(CLIENT_LABEL, sessionKey, sessionId, clientNonce, serverNonce);
    }

    /** Returns the proof that the gateway sends to show that it has the key too. */
    public static Bytes32 serverProof(byte[] sessionKey, String sessionId, Bytes32 clientNonce,
            Bytes32 serverNonce) {
        return proof(SERVER_LABEL, sessionKey, sessionId, clientNonce, serverNonce);
    }

    private static Bytes32 proof(String label, byte[] sessionKey, String sessionId,
            Bytes32 clientNonce, Bytes32 serverNonce) {
        Mac mac = mac(sessionKey);
        mac.update(label.getBytes(US_ASCII));
        mac.update(HexFormat.of().parseHex(sessionId));
        mac.update(clientNonce.bytes());
        return Bytes32.of(mac.doFinal(serverNonce.bytes()));
    }

    private static Mac mac(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }
}
