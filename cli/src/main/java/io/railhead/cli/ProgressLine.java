package io.railhead.cli;

import io.railhead.client.Progress;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * One line that is rewritten while bytes move. Any thread. Nothing is printed unless a person is
 * watching.
 */
public final class ProgressLine implements Progress, AutoCloseable {
    private static final long REDRAW_NANOS = 100_000_000;
    private static final double MIB = 1 << 20;

    private final PrintWriter out;
    private final boolean watched;
    private final long started = System.nanoTime();
    private long total;
    private long done;
    private long drawn;
    private boolean dirty;

    ProgressLine(PrintWriter out, boolean watched) {
        this.out = out;
        this.watched = watched;
    }

    /**
     * Whether a person is watching. JDK 25 gives no console again where the streams are redirected,
     * whatever 22 to 24 did.
     */
    @SuppressWarnings("SystemConsoleNull")
    public static boolean isTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    @Override
    public synchronized void expect(long totalBytes) {
        total = totalBytes;
    }

    @Override
    public synchronized void advance(long bytes) {
        done += bytes;
        long now = System.nanoTime();
        if (watched && (now - drawn > REDRAW_NANOS || done == total)) {
            drawn = now;
            dirty = true;
            out.print("\r" + line(now - started));
            out.flush();
        }
    }

    private String line(long nanos) {
        double seconds = Math.max(nanos, 1) / 1e9;
        if (total == 0) {
            return String.format(Locale.ROOT, "%8.1f MiB  %8.1f MiB/s ", done / MIB,
                    done / MIB / seconds);
        }
        return String.format(Locale.ROOT, "%8.1f of %.1f MiB  %3d %%  %8.1f MiB/s ", done / MIB,
                total / MIB, done * 100 / total, done / MIB / seconds);
    }

    @Override
    public synchronized void close() {
        if (dirty) {
            out.println();
            out.flush();
        }
    }
}
