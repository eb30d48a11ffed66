package io.railhead.gateway.s3.body;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Consumer;

/** The framing of a request body on the wire. Single-threaded. */
interface Framing {

    /** Consumes what is given, hands on the body's own bytes. */
    void accept(ByteBuffer in, Consumer<ByteBuffer> out);

    /** Throws unless the body is complete. */
    void end();

    /** Names in lower case; complete after {@link #end}. */
    Map<String, String> trailers();

    /** The bytes as they are. */
    final class Plain implements Framing {
        @Override
        public void accept(ByteBuffer in, Consumer<ByteBuffer> out) {
            if (in.hasRemaining()) {
                ByteBuffer piece = in.slice();
                in.position(in.limit());
                out.accept(piece);
            }
        }

        @Override
        public void end() {}

        @Override
        public Map<String, String> trailers() {
            return Map.of();
        }
    }
}
