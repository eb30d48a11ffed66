package io.railhead.gateway.audit;

import java.io.IOException;

/** One destination of the stream. Used by one thread; calls may block. */
interface AuditSink extends AutoCloseable {

    /** Returns the name in metrics and messages. */
    String name();

    /**
     * Writes one event. After an exception the same event is written again, later.
     *
     * @param json one line of JSON, without its end
     */
    void write(AuditEvent event, String json) throws IOException;

    /** Does what is due between events, at least once a second. */
    void tick() throws IOException;

    @Override
    void close();
}
