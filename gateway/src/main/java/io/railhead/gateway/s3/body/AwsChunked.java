package io.railhead.gateway.s3.body;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.ChunkSignatures;
import io.railhead.protocol.token.Hex;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * S3's own chunks, inside HTTP's framing. Single-threaded.
 *
 * <pre>
 * hex-size [;chunk-signature=64 hex] CRLF
 * data CRLF
 * …
 * 0 [;chunk-signature=64 hex] CRLF
 * [name:value CRLF … [x-amz-trailer-signature:64 hex CRLF]]
 * CRLF
 * </pre>
 *
 * A chunk's bytes are passed on after its signature was verified. Bytes of chunks above
 * {@link #MAX_WITHHELD_BYTES} are passed on at once, except the last piece: the body cannot end
 * without the signature.
 */
final class AwsChunked implements Framing {
    /** The largest chunk is S3's largest object: some clients send a body as one chunk. */
    static final long MAX_CHUNK_BYTES = 5L << 40;
    static final int MAX_WITHHELD_BYTES = 1 << 20;
    private static final int MAX_LINE_BYTES = 16 << 10;
    private static final String SIGNATURE = "chunk-signature=";

    private enum State {
        SIZE,
        DATA,
        DATA_END,
        TRAILER,
        END
    }

    private final @Nullable ChunkSignatures signatures;
    private final @Nullable Trailers trailer;
    private final Queue<ByteBuffer> withheld = new ArrayDeque<>();
    private final StringBuilder line = new StringBuilder(128);
    private State state = State.SIZE;
    private long chunkBytes;
    private long chunkRemaining;
    private String chunkSignature = "";

    /**
     * A decoder.
     *
     * @param signatures null if chunks are not signed
     * @param trailer null if no trailer may follow
     */
    AwsChunked(@Nullable ChunkSignatures signatures, @Nullable Trailers trailer) {
        this.signatures = signatures;
        this.trailer = trailer;
    }

    @Override
    public void accept(ByteBuffer in, Consumer<ByteBuffer> out) {
        while (in.hasRemaining()) {
            switch (state) {
                case SIZE -> {
                    if (readLine(in)) {
                        startChunk(takeLine());
                    }
                }
                case DATA -> readData(in, out);
                case DATA_END -> {
                    if (readLine(in)) {
                        endChunk(takeLine());
                    }
                }
                case TRAILER -> {
                    if (readLine(in) && trailer != null && trailer.take(takeLine())) {
                        state = State.END;
                    }
                }
                case END -> readNothing(in);
            }
        }
    }

    /**
     * Returns true at the end of a line, which is a line feed; a carriage return before it is
     * removed.
     */
    private boolean readLine(ByteBuffer in) {
        while (in.hasRemaining()) {
            char c = (char) (in.get() & 0xFF);
            if (c == '\n') {
                return true;
            }
            if (line.length() == MAX_LINE_BYTES) {
                throw malformed("A line of the chunked body is too long.");
            }
            line.append(c);
        }
        return false;
    }

    private String takeLine() {
        int length = line.length();
        boolean crlf = length > 0 && line.charAt(length - 1) == '\r';
        if (!crlf && state != State.TRAILER) {
            throw malformed("A chunk's line does not end in CRLF.");
        }
        String taken = line.substring(0, crlf ? length - 1 : length);
        line.setLength(0);
        return taken;
    }

    private void startChunk(String header) {
        int semicolon = header.indexOf(';');
        chunkBytes = size(semicolon < 0 ? header : header.substring(0, semicolon));
        chunkRemaining = chunkBytes;
        chunkSignature = signatures == null ? "" : signature(header, semicolon);
        if (chunkBytes > 0) {
            state = State.DATA;
            return;
        }
        verifyChunk();
        state = trailer == null ? State.DATA_END : State.TRAILER;
    }

    private static long size(String hex) {
        if (hex.isEmpty() || hex.length() > 16) {
            throw malformed("A chunk's size is malformed.");
        }
        long size = 0;
        for (int i = 0; i < hex.length(); i++) {
            if (!HexFormat.isHexDigit(hex.charAt(i))) {
                throw malformed("A chunk's size is malformed.");
            }
            size = size << 4 | HexFormat.fromHexDigit(hex.charAt(i));
            if (size > MAX_CHUNK_BYTES) {
                throw malformed("A chunk is larger than " + MAX_CHUNK_BYTES + " bytes.");
            }
        }
        return size;
    }

    private static String signature(String header, int semicolon) {
        String extension = semicolon < 0 ? "" : header.substring(semicolon + 1).strip();
        String signature = extension.startsWith(SIGNATURE)
                ? extension.substring(SIGNATURE.length())
                : "";
        if (!Hex.isSha256(signature)) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH,
                    "A chunk has no well-formed chunk-signature.");
        }
        return signature;
    }

    private void readData(ByteBuffer in, Consumer<ByteBuffer> out) {
        int length = (int) Math.min(chunkRemaining, in.remaining());
        ByteBuffer piece = in.slice(in.position(), length);
        in.position(in.position() + length);
        chunkRemaining -= length;
        if (signatures == null) {
            out.accept(piece);
        } else {
            signatures.add(piece);
            if (chunkBytes > MAX_WITHHELD_BYTES) {
                release(out);
            }
            withheld.add(piece);
        }
        if (chunkRemaining == 0) {
            verifyChunk();
            release(out);
            state = State.DATA_END;
        }
    }

    private void verifyChunk() {
        if (signatures != null) {
            signatures.verifyChunk(chunkSignature);
        }
    }

    private void release(Consumer<ByteBuffer> out) {
        for (ByteBuffer piece = withheld.poll(); piece != null; piece = withheld.poll()) {
            out.accept(piece);
        }
    }

    private void endChunk(String empty) {
        if (!empty.isEmpty()) {
            throw malformed("A chunk is longer than its size.");
        }
        state = chunkBytes == 0 ? State.END : State.SIZE;
    }

    /** Skips the end of the body. Some clients send one empty line too many after the trailer. */
    private void readNothing(ByteBuffer in) {
        line.append((char) (in.get() & 0xFF));
        if (trailer == null || !"\r\n".startsWith(line.toString())) {
            throw malformed("The chunked body goes on after its end.");
        }
    }

    @Override
    public void end() {
        if (state != State.END) {
            throw new S3Refusal(S3Error.INCOMPLETE_BODY,
                    "The request body terminated unexpectedly");
        }
        if (trailer != null) {
            trailer.verify(signatures);
        }
    }

    @Override
    public Map<String, String> trailers() {
        return trailer == null ? Map.of() : trailer.values();
    }

    /** Returns S3's refusal of malformed chunks, with a detail that S3 does not give. */
    private static S3Refusal malformed(String detail) {
        return new S3Refusal(S3Error.INCOMPLETE_BODY, detail);
    }
}
