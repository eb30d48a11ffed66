package io.railhead.gateway.s3.body;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Consumer;

/** The framing of a request body on the wire. Single-threaded. */
interface Framing {

    /** Consumes the input and passes the body's own bytes on. */
    void accept(ByteBuffer in, Consumer<ByteBuffer> out);

    /** Throws unless the body is complete. */
    void end();

    /** Returns the trailers, with names in lower case; complete after {@link #end}. */
    Map<String, String> trailers();

    /** A body without framing. */
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
