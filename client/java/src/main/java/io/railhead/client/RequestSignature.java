package io.railhead.client;

import io.railhead.rdma.session.SessionKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The SigV4 signature of one request and the key it was made with: what a session's key is derived
 * from on both sides.
 */
final class RequestSignature {
    private static final Pattern AUTHORIZATION = Pattern.compile(
            "AWS4-HMAC-SHA256 Credential=[^,]+/(\\d{8})/([^/,]+)/([^/,]+)/aws4_request,"
                    + ".*Signature=([0-9a-f]{64})");

    private final byte[] key;
    private final String signature;

    private RequestSignature(byte[] key, String signature) {
        this.key = key;
        this.signature = signature;
    }

    /**
     * @param authorization the signed request's header
     */
    static RequestSignature of(String secretKey, String authorization) {
        Matcher match = AUTHORIZATION.matcher(authorization);
        if (!match.matches()) {
            throw new IllegalStateException("not a SigV4 header: it has no scope or signature");
        }
        byte[] key = ("AWS4" + secretKey).getBytes(StandardCharsets.UTF_8);
        for (String step : new String[]{match.group(1), match.group(2), match.group(3),
                "aws4_request"}) {
            key = hmac(key, step);
        }
        return new RequestSignature(key, match.group(4));
    }

    /** The key of the session that the signed request opened. */
    byte[] sessionKey(String sessionId) {
        return SessionKey.derive(key, signature, sessionId);
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }
}
