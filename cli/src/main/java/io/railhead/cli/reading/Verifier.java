package io.railhead.cli.reading;

import io.railhead.client.PartSink;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;

/**
 * Checks each part where it was delivered, then wipes that memory, so that bytes of an earlier
 * round can never pass for delivered ones. Keeps account of its own time and processor time, which
 * are no part of a transfer. One thread.
 */
final class Verifier implements PartSink {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final byte[] ZEROS = new byte[64 << 10];

    private final Manifest.Entry expected;
    private final int partBytes;
    private long next;
    private long parts;
    private long nanos;
    private long cpuNanos;

    Verifier(Manifest.Entry expected, int partBytes) {
        this.expected = expected;
        this.partBytes = partBytes;
    }

    @Override
    public void accept(long offset, ByteBuffer bytes) throws IOException {
        long start = System.nanoTime();
        long cpuStart = THREADS.getCurrentThreadCpuTime();
        int length = bytes.remaining();
        int index = (int) (offset / partBytes);
        if (offset != next || index >= expected.sha256OfParts().size()
                || !Manifest.sha256(bytes.duplicate())
                        .equals(expected.sha256OfParts().get(index))) {
            throw new IOException("wrong bytes in " + expected.key() + " at " + offset);
        }
        wipe(bytes);
        next += length;
        parts++;
        cpuNanos += THREADS.getCurrentThreadCpuTime() - cpuStart;
        nanos += System.nanoTime() - start;
    }

    private static void wipe(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            bytes.put(ZEROS, 0, Math.min(ZEROS.length, bytes.remaining()));
        }
    }

    void requireComplete() throws IOException {
        if (next != expected.bytes()) {
            throw new IOException("only " + next + " of " + expected.bytes() + " bytes of "
                    + expected.key() + " arrived");
        }
    }

    long parts() {
        return parts;
    }

    long nanos() {
        return nanos;
    }

    long cpuNanos() {
        return cpuNanos;
    }
}
