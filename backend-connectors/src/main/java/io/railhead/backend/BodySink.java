package io.railhead.backend;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Takes a body's bytes in order, one call at a time. {@link #complete} or {@link #fail} is the last
 * call. A method that throws ends the body's connection; then {@link #fail} is called.
 */
public interface BodySink {

    /**
     * Returns memory for the next bytes: a direct buffer, from its position to its limit. The
     * memory stays valid until the call of {@link #landed} that fills it, or until {@link #fail}.
     *
     * @return null to take the next bytes by {@link #write}
     */
    @Nullable
    ByteBuffer room();

    /** Reports that the next bytes lie at the beginning of the memory from {@link #room}. */
    void landed(int bytes);

    /** Takes the remaining bytes, which are valid during the call only. */
    void write(ByteBuffer bytes);

    void complete();

    /** @param cause a {@link BackendException}, or what a method of this sink threw */
    void fail(Throwable cause);
}
