package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.identity.AccessKey;
import io.railhead.protocol.message.SigningKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parsed forms of the last signed head of one connection: clients repeat most of it. A form is
 * used again only where the text is equal, and the key only for the very key pair that was found
 * anew. No verdict is remembered: each signature is computed and compared. One thread at a time.
 */
public final class SignatureMemory {
    /** Longer headers are parsed each time, so that a connection cannot hold more. */
    private static final int MOST_CHARS = 1024;

    private String start = "";
    private @Nullable Signer signer;
    private @Nullable AccessKey accessKey;
    private @Nullable SignatureScope scope;
    private @Nullable SigningKey signingKey;
    private @Nullable SessionToken token;

    /** The fields of an {@code Authorization} header in front of its signature. */
    record Signer(SignatureInput.Credential credential, List<String> signedHeaders) {}

    /**
     * Returns the fields in front of the signature if they are the last head's; otherwise null. The
     * rest is 64 chars long, whatever they are.
     */
    @Nullable
    Signer find(String authorization) {
        return authorization.length() == start.length() + SignatureInput.SIGNATURE_DIGITS
                && authorization.startsWith(start) ? signer : null;
    }

    /** @param authorization ends with {@code Signature=} and 64 hex digits, right or wrong */
    void remember(String authorization, Signer found) {
        int length = authorization.length() - SignatureInput.SIGNATURE_DIGITS;
        if (length <= MOST_CHARS) {
            start = authorization.substring(0, length);
            signer = found;
        }
    }

    /** Returns the token of this text: the last head's if that is equal, whose hash is known. */
    SessionToken token(String text) {
        SessionToken known = token;
        if (known == null || !known.text().equals(text)) {
            known = SessionToken.of(text);
            token = text.length() <= MOST_CHARS ? known : null;
        }
        return known;
    }

    /** Compares by identity, which is quicker than to compare secrets, and stricter. */
    @SuppressWarnings("ReferenceEquality")
    SigningKey signingKey(SigningKeys keys, AccessKey key, SignatureScope of) {
        SigningKey known = signingKey;
        if (known == null || accessKey != key || scope != of) {
            known = keys.get(key, of);
            accessKey = key;
            scope = of;
            signingKey = known;
        }
        return known;
    }
}
