package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.gateway.s3.Digests;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.message.SigningKey;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * The chain of chunk signatures. Each covers the one before; the first covers the request's own.
 * Single-threaded.
 */
public final class ChunkSignatures {
    private static final String EMPTY_SHA256 = HexFormat.of().formatHex(Digests.sha256().digest());

    private final SigningKey key;
    private final String dateAndScope;
    private final MessageDigest chunk = Digests.sha256();
    private String previous;

    public ChunkSignatures(Authentication.Signed seed) {
        this.key = seed.signingKey();
        this.dateAndScope = SigningTime.format(seed.signedAt()) + '\n' + seed.scope();
        this.previous = seed.signature();
    }

    /** Adds bytes of the current chunk. */
    public void add(ByteBuffer bytes) {
        chunk.update(bytes.duplicate());
    }

    /** Ends the current chunk and verifies its signature. */
    public void verifyChunk(String signature) {
        verify(signature, "AWS4-HMAC-SHA256-PAYLOAD\n" + dateAndScope + '\n' + previous + '\n'
                + EMPTY_SHA256 + '\n' + HexFormat.of().formatHex(chunk.digest()));
    }

    /** Ends the body and verifies the trailer's signature. */
    public void verifyTrailer(String signature, String canonicalTrailer) {
        verify(signature, "AWS4-HMAC-SHA256-TRAILER\n" + dateAndScope + '\n' + previous + '\n'
                + HexFormat.of()
                        .formatHex(Digests.sha256().digest(canonicalTrailer.getBytes(ISO_8859_1))));
    }

    private void verify(String signature, String stringToSign) {
        String expected = HexFormat.of().formatHex(key.sign(stringToSign));
        if (!MessageDigest.isEqual(expected.getBytes(ISO_8859_1),
                signature.getBytes(ISO_8859_1))) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        previous = expected;
    }
}
