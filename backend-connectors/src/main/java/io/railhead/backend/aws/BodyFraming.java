package io.railhead.backend.aws;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The framing of a request body on the wire. One instance per body, single-threaded.
 *
 * <pre>
 *   plain          the bytes
 *   aws-chunked    hex(n) CRLF  n bytes CRLF  ...  0 CRLF  (name:value CRLF)*  CRLF
 * </pre>
 *
 * Chunks are cut at a fixed size, whatever the buffers, so that the encoded length is known before
 * the first byte.
 */
interface BodyFraming {

    /** Returns the length of the whole framed body; negative if unknown. */
    long encodedBytes();

    void frame(ByteBuffer buffer, Consumer<ByteBuffer> out);

    void finish(Consumer<ByteBuffer> out);

    /** A body without framing. */
    record Plain(long encodedBytes) implements BodyFraming {
        @Override
        public void frame(ByteBuffer buffer, Consumer<ByteBuffer> out) {
            out.accept(buffer);
        }

        @Override
        public void finish(Consumer<ByteBuffer> out) {}
    }

    /** The framing of STREAMING-UNSIGNED-PAYLOAD-TRAILER. */
    final class AwsChunked implements BodyFraming {
        /** Some stores refuse chunks of 16 MiB and more. */
        static final long CHUNK_BYTES = 1024 * 1024;

        private final long decodedBytes;
        private final Map<String, Supplier<String>> trailers;
        private long sent;

        AwsChunked(long decodedBytes, Map<String, Supplier<String>> trailers) {
            this.decodedBytes = decodedBytes;
            this.trailers = trailers;
        }

        @Override
        public long encodedBytes() {
            long full = decodedBytes / CHUNK_BYTES;
            long rest = decodedBytes % CHUNK_BYTES;
            return full * chunkBytes(CHUNK_BYTES) + (rest == 0 ? 0 : chunkBytes(rest)) + 3
                    + ChecksumTrailers.encodedBytes(trailers) + 2;
        }

        @Override
        public void frame(ByteBuffer buffer, Consumer<ByteBuffer> out) {
            while (buffer.hasRemaining()) {
                long intoChunk = sent % CHUNK_BYTES;
                if (intoChunk == 0) {
                    long size = Math.min(CHUNK_BYTES, decodedBytes - sent);
                    out.accept(ascii(Long.toHexString(size) + "\r\n"));
                }
                int part = (int) Math.min(buffer.remaining(), CHUNK_BYTES - intoChunk);
                out.accept(buffer.slice(buffer.position(), part));
                buffer.position(buffer.position() + part);
                sent += part;
                if (sent % CHUNK_BYTES == 0 || sent == decodedBytes) {
                    out.accept(ascii("\r\n"));
                }
            }
        }

        @Override
        public void finish(Consumer<ByteBuffer> out) {
            out.accept(ascii("0\r\n" + ChecksumTrailers.lines(trailers) + "\r\n"));
        }

        private static long chunkBytes(long size) {
            return Long.toHexString(size).length() + 2 + size + 2;
        }

        private static ByteBuffer ascii(String text) {
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
