package io.railhead.gateway.s3.body;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.ChunkSignatures;
import io.railhead.gateway.s3.sigv4.PayloadSigning;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body: removes aws-chunked framing, and verifies the declared and signed
 * checksums. The last piece is held back until everything was verified, so an invalid body never
 * reaches its declared length. One thread at a time. The reader owns the buffers that it is given
 * and passes slices of them on: their content must not change. An empty body has no last piece to
 * hold back: call {@link #end} before forwarding it. After a refusal every call refuses.
 */
public final class BodyReader {
    private final PayloadSigning payload;
    private final Framing framing;
    private final BodyChecks checks;
    private final Set<String> trailerNames;
    private final long declaredBytes;
    private long seenBytes;
    private boolean ended;
    private @Nullable ByteBuffer held;
    private @Nullable S3Refusal refusal;

    private BodyReader(PayloadSigning payload, Framing framing, Set<String> trailerNames,
            long declaredBytes, BodyChecks checks) {
        this.payload = payload;
        this.checks = checks;
        this.trailerNames = trailerNames;
        this.framing = framing;
        this.declaredBytes = declaredBytes;
    }

    private static BodyReader open(Authentication who, PayloadSigning payload, Headers headers,
            BodyChecks checks) {
        Set<String> trailerNames = trailerNames(headers, payload);
        Framing framing = framing(who, payload, trailerNames);
        boolean chunked = !(framing instanceof Framing.Plain);
        long declaredBytes = length(headers,
                chunked ? "x-amz-decoded-content-length" : "content-length");
        if (chunked && declaredBytes < 0) {
            throw new S3Refusal(S3Error.MISSING_CONTENT_LENGTH,
                    "You must provide the x-amz-decoded-content-length HTTP header.");
        }
        checks.expectContent(payload);
        checks.expectMd5(headers);
        trailerNames.forEach(checks::expectTrailer);
        return new BodyReader(payload, framing, trailerNames, declaredBytes, checks);
    }

    /**
     * Returns the reader of a form whose head has been read. The body ends with the file, whatever
     * follows.
     *
     * @param bytes the length of the whole form
     * @param headBytes the bytes before the file
     */
    public static BodyReader ofForm(String boundary, long bytes, int headBytes) {
        return new BodyReader(new PayloadSigning.Unsigned(), new FormFraming(boundary, headBytes),
                Set.of(), bytes, new BodyChecks());
    }

    /** Throws {@code S3Refusal} if the headers contradict each other. */
    public static BodyReader open(Authentication who, Headers headers) {
        return open(who, payload(who, headers), headers);
    }

    /**
     * Returns the reader of bytes that are not the request's HTTP body, and never chunked.
     *
     * @param declared what the request declares about the bytes
     * @param headers {@code content-length} and the other headers about these bytes
     */
    public static BodyReader openPlain(PayloadSigning declared, Headers headers) {
        if (!(declared instanceof PayloadSigning.Digest
                || declared instanceof PayloadSigning.Unsigned)) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "A request whose bytes are read out of memory must not declare chunks.");
        }
        return open(new Authentication.Anonymous(), declared, headers);
    }

    private static BodyReader open(Authentication who, PayloadSigning payload, Headers headers) {
        BodyChecks checks = new BodyChecks();
        checks.expectHeaders(headers);
        return open(who, payload, headers, checks);
    }

    /**
     * Throws {@code S3Refusal} if a checksum header is unknown, or its value is no checksum. A
     * store would refuse it, but no store sees an upload of a cache-only object.
     */
    public static void requireVerifiable(Headers headers) {
        BodyChecks.requireVerifiable(headers);
    }

    /** Returns whether a header, named in lower case, is a checksum that a reader verifies. */
    public static boolean isSum(String header, String value) {
        BodyChecksum checksum = BodyChecksum.named(header);
        return checksum != null && checksum.tryParse(value) != null;
    }

    /**
     * Returns the checksum of some bytes in base64.
     *
     * @param header a known checksum's header name in lower case
     */
    public static String sum(String header, byte[] bytes) {
        BodyChecksum checksum = BodyChecksum.named(header);
        if (checksum == null) {
            throw new IllegalArgumentException("header must name a checksum: " + header);
        }
        BodyChecksum.Running sum = checksum.start();
        sum.add(ByteBuffer.wrap(bytes));
        return Base64.getEncoder().encodeToString(sum.finish());
    }

    /**
     * Returns the reader of a request whose {@code x-amz-checksum-*} headers describe an object and
     * not the body: CompleteMultipartUpload.
     */
    public static BodyReader openWithoutChecksums(Authentication who, Headers headers) {
        return open(who, payload(who, headers), headers, new BodyChecks());
    }

    /**
     * Returns the reader of a body that is neither unframed nor verified; only its length is
     * checked.
     */
    public static BodyReader untouched(Headers headers) {
        String length = headers.get("content-length");
        return open(new Authentication.Anonymous(), new PayloadSigning.Unsigned(),
                length == null
                        ? Headers.NONE
                        : Headers.builder().add("content-length", length).build(),
                new BodyChecks());
    }

    private static PayloadSigning payload(Authentication who, Headers headers) {
        return switch (who) {
            case Authentication.Signed signed -> signed.payload();
            case Authentication.Named named -> named.payload();
            case Authentication.Proven _ -> new PayloadSigning.Unsigned();
            case Authentication.Anonymous _,Authentication.PassedThrough _ -> {
                String value = headers.get("x-amz-content-sha256");
                yield value == null ? new PayloadSigning.Unsigned() : PayloadSigning.parse(value);
            }
        };
    }

    private static Framing framing(Authentication who, PayloadSigning payload,
            Set<String> trailerNames) {
        return switch (payload) {
            case PayloadSigning.Digest(_),PayloadSigning.Unsigned() -> new Framing.Plain();
            case PayloadSigning.UnsignedChunks() -> new AwsChunked(null,
                    Trailers.unsigned(trailerNames));
            case PayloadSigning.SignedChunks(boolean trailer) -> {
                yield new AwsChunked(chunkSignatures(who),
                        trailer ? Trailers.signed(trailerNames) : null);
            }
        };
    }

    /** Returns null if no chunk needs a signature. */
    private static @Nullable ChunkSignatures chunkSignatures(Authentication who) {
        return switch (who) {
            case Authentication.Signed seed -> new ChunkSignatures(seed);
            case Authentication.Named _,Authentication.PassedThrough _ -> null;
            case Authentication.Proven _,Authentication.Anonymous _ ->
                throw new S3Refusal(S3Error.INVALID_REQUEST,
                        "Signed chunks need a signed request.");
        };
    }

    private static Set<String> trailerNames(Headers headers, PayloadSigning payload) {
        Set<String> names = new LinkedHashSet<>();
        headers.forEach((name, value) -> {
            if (name.equalsIgnoreCase("x-amz-trailer")) {
                addNames(value, names);
            }
        });
        boolean mayTrail = payload instanceof PayloadSigning.UnsignedChunks
                || (payload instanceof PayloadSigning.SignedChunks(boolean trailer) && trailer);
        if (!names.isEmpty() && !mayTrail) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "x-amz-trailer needs an x-amz-content-sha256 that ends in -TRAILER.");
        }
        return Collections.unmodifiableSet(names);
    }

    private static void addNames(String list, Set<String> names) {
        int start = 0;
        while (start <= list.length()) {
            int comma = list.indexOf(',', start);
            comma = comma < 0 ? list.length() : comma;
            String name = list.substring(start, comma).strip().toLowerCase(Locale.ROOT);
            if (!name.isEmpty()) {
                names.add(name);
            }
            start = comma + 1;
        }
    }

    private static long length(Headers headers, String name) {
        String text = headers.get(name);
        if (text == null) {
            return -1;
        }
        long length = 0;
        boolean valid = !text.isEmpty() && text.length() <= 18;
        for (int i = 0; valid && i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            valid = digit >= 0 && digit <= 9;
            length = length * 10 + digit;
        }
        if (!valid) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, name + " is not a length.");
        }
        return length;
    }

    /** Takes bytes that arrived, and passes on those that are verified far enough. */
    public void accept(ByteBuffer in, Consumer<ByteBuffer> out) {
        refusing(() -> {
            requireOpen();
            framing.accept(in, piece -> pass(piece, out));
        });
    }

    private void pass(ByteBuffer piece, Consumer<ByteBuffer> out) {
        seenBytes += piece.remaining();
        if (declaredBytes >= 0 && seenBytes > declaredBytes) {
            throw wrongLength();
        }
        checks.add(piece);
        ByteBuffer before = held;
        held = piece;
        if (before != null) {
            out.accept(before);
        }
    }

    /** Verifies the whole body and passes the rest on, or throws {@code S3Refusal}. */
    public void end(Consumer<ByteBuffer> out) {
        refusing(() -> {
            requireOpen();
            framing.end();
            if (declaredBytes >= 0 && seenBytes != declaredBytes) {
                throw wrongLength();
            }
            checks.verify(framing.trailers());
            ended = true;
        });
        ByteBuffer last = held;
        held = null;
        if (last != null) {
            out.accept(last);
        }
    }

    private void requireOpen() {
        if (ended) {
            throw new IllegalStateException("the body has ended");
        }
    }

    private void refusing(Runnable step) {
        if (refusal != null) {
            throw refusal;
        }
        try {
            step.run();
        } catch (S3Refusal e) {
            refusal = e;
            held = null;
            throw e;
        }
    }

    private static S3Refusal wrongLength() {
        return new S3Refusal(S3Error.INCOMPLETE_BODY);
    }

    /** Returns the body's length without framing; -1 if no header tells it. */
    public long decodedLength() {
        return declaredBytes;
    }

    /**
     * Returns the payload hash to sign for the store: the declared hex digest, or UNSIGNED-PAYLOAD.
     */
    public String forwardedSha256() {
        return payload instanceof PayloadSigning.Digest(String hex)
                ? hex
                : PayloadSigning.UNSIGNED;
    }

    /** Returns the announced checksum trailers, in lower case. */
    public Set<String> trailerNames() {
        return trailerNames;
    }

    /** Returns the verified value of an announced trailer; only after {@link #end}. */
    public String trailerChecksum(String name) {
        String value = ended ? framing.trailers().get(name) : null;
        if (value == null) {
            throw new IllegalStateException("no verified trailer " + name);
        }
        return value;
    }
}
