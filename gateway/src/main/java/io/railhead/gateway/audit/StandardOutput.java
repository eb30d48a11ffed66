package io.railhead.gateway.audit;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes events to standard output, each by one write of a whole line. */
final class StandardOutput implements AuditSink {
    /** Not {@code System.out}, which hides failures and keeps them for ever. */
    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

    @Override
    public String name() {
        return "stdout";
    }

    @Override
    public void write(AuditEvent event, String json) throws IOException {
        out.write((json + '\n').getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void tick() {
        // Nothing is buffered.
    }

    @Override
    public void close() {
        // The descriptor belongs to the process.
    }
}
