package io.railhead.cli;

import io.railhead.client.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * A progress bar that is redrawn while bytes move, and then removed. It appears after a second, and
 * only on a terminal. Any thread.
 */
public final class ProgressLine implements Progress, AutoCloseable {
    private static final long SHORT_NANOS = 1_000_000_000;
    private static final long REDRAW_NANOS = 100_000_000;
    private static final int CELLS = 24;
    private static final double MIB = 1 << 20;
    private static final String ERASE = "\r\u001b[K";

    private final PrintWriter out;
    private final boolean watched;
    private final LongSupplier nanos;
    private final long started;
    private long total;
    private long done;
    private long drawn;

    public ProgressLine(PrintWriter out, boolean watched) {
        this(out, watched, System::nanoTime);
    }

    ProgressLine(PrintWriter out, boolean watched, LongSupplier nanos) {
        this.out = out;
        this.watched = watched;
        this.nanos = nanos;
        started = nanos.getAsLong();
    }

    /** Returns whether standard error is a terminal, wherever standard output goes. */
    public static boolean isTerminal() {
        try {
            String file = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty")
                    || file.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public synchronized void expect(long totalBytes) {
        total = totalBytes;
    }

    @Override
    public synchronized void advance(long bytes) {
        done += bytes;
        long elapsed = nanos.getAsLong() - started;
        if (watched && elapsed > SHORT_NANOS && elapsed - drawn > REDRAW_NANOS) {
            drawn = elapsed;
            out.print(ERASE + line(elapsed));
            out.flush();
        }
    }

    long elapsedNanos() {
        return nanos.getAsLong() - started;
    }

    private String line(long elapsed) {
        double perSecond = done / MIB / (elapsed / 1e9);
        if (total == 0) {
            return String.format(Locale.ROOT, "%.1f MiB, %.1f MiB/s", done / MIB, perSecond);
        }
        int full = (int) (done * CELLS / total);
        return String.format(Locale.ROOT, "[%s%s] %d %%, %.1f of %.1f MiB, %.1f MiB/s",
                "#".repeat(full), " ".repeat(Math.max(0, CELLS - full)), done * 100 / total,
                done / MIB, total / MIB, perSecond);
    }

    @Override
    public synchronized void close() {
        if (drawn > 0) {
            out.print(ERASE);
            out.flush();
        }
    }
}
