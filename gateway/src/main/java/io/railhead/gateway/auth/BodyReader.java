package io.railhead.gateway.auth;

import io.railhead.backend.Headers;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A request's body on its way in: unframes aws-chunked, verifies what was declared and signed, and
 * holds the last piece back until all of it held, so that a body that does not hold never reaches
 * its declared length. One thread at a time. Buffers given in are the reader's, and their slices go
 * out: their content must not change. A body of no bytes has no last piece to hold: call
 * {@link #end} before sending it on.
 */
public final class BodyReader {

    private BodyReader() {}

    /** Throws {@code S3Exception} if the headers contradict each other. */
    public static BodyReader open(Authentication who, Headers headers) {
        throw new UnsupportedOperationException(who + headers.toString());
    }

    /**
     * The same, for requests whose {@code x-amz-checksum-*} headers speak of an object and not of
     * the body: CompleteMultipartUpload.
     */
    public static BodyReader openWithoutChecksums(Authentication who, Headers headers) {
        throw new UnsupportedOperationException(who + headers.toString());
    }

    /** Takes what arrived; hands on what may go. */
    public void accept(ByteBuffer in, Consumer<ByteBuffer> out) {
        throw new UnsupportedOperationException(in + out.toString());
    }

    /** Verifies the whole and hands on the rest, or throws {@code S3Exception}. */
    public void end(Consumer<ByteBuffer> out) {
        throw new UnsupportedOperationException(out.toString());
    }

    /** The body's length without framing, or -1 if no header says. */
    public long decodedLength() {
        throw new UnsupportedOperationException();
    }

    /** What to sign towards the store: the declared hex digest, or UNSIGNED-PAYLOAD. */
    public String forwardedSha256() {
        throw new UnsupportedOperationException();
    }

    /** Checksum trailers announced, lower case. */
    public Set<String> trailerNames() {
        throw new UnsupportedOperationException();
    }

    /** The verified value of an announced trailer; only after {@link #end}. */
    public String trailerChecksum(String name) {
        throw new UnsupportedOperationException(name);
    }
}
