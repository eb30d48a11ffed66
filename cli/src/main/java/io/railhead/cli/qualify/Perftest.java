package io.railhead.cli.qualify;

import io.railhead.cli.local.Children;
import io.railhead.os.devices.GidChoice;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/**
 * Runs {@code ib_write_bw} between two ports of this machine, or one and itself, to measure the
 * adapter without Railhead. One thread.
 *
 * @param near the server's port
 * @param far the client's
 */
record Perftest(Children children, GidChoice.Chosen near, GidChoice.Chosen far) {
    static final String PROGRAM = "ib_write_bw";
    private static final int BYTES = 1 << 20;
    private static final int WRITES = 200;
    private static final long MOST_SECONDS = 60;
    private static final int TRIES = 8;
    /** A wait for the server, which does not report when it listens. */
    private static final long LISTENS_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final Pattern ROW = Pattern.compile("\\d+\\s+\\d+\\s+[\\d.]+\\s+[\\d.]+.*");

    /** Returns the average in MiB/s. */
    double mibPerS() throws IOException {
        Process server = start("perftest-server", near, List.of());
        try {
            for (int i = 1; i <= TRIES; i++) {
                LockSupport.parkNanos(LISTENS_AFTER_NANOS);
                String name = "perftest-client-" + i;
                if (hasSucceeded(start(name, far, List.of("127.0.0.1")))) {
                    return average(Files.readAllLines(children.log(name)));
                }
            }
            throw new IOException(PROGRAM + " failed " + TRIES + " times: "
                    + children.lastWords("perftest-client-" + TRIES));
        } finally {
            Children.end(server);
        }
    }

    private Process start(String name, GidChoice.Chosen port, List<String> server)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM, "-F", "-d", port.device().name(),
                "-i", String.valueOf(port.port().number()), "-s", String.valueOf(BYTES), "-n",
                String.valueOf(WRITES)));
        if (!port.port().isInfiniband()) {
            command.addAll(List.of("-x", String.valueOf(port.gid().index())));
        }
        command.addAll(server);
        return children.start(name, command, Map.of(),
                Redirect.appendTo(children.log(name).toFile()));
    }

    private static boolean hasSucceeded(Process process) throws IOException {
        try {
            if (process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
                return process.exitValue() == 0;
            }
            Children.end(process);
            throw new IOException(PROGRAM + " did not end within " + MOST_SECONDS + " s");
        } catch (InterruptedException e) {
            Children.end(process);
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /**
     * Returns the average in the table's last row: bytes, iterations, peak, average, and a message
     * rate.
     */
    static double average(List<String> output) throws IOException {
        return output.stream()
                .map(String::strip)
                .filter(line -> ROW.matcher(line).matches())
                .reduce((first, last) -> last)
                .map(line -> Double.parseDouble(line.split("\\s+", -1)[3]))
                .orElseThrow(() -> new IOException(PROGRAM + " printed no table"));
    }

    /** Returns whether the program is on the PATH. */
    static boolean isInstalled() {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, PROGRAM))) {
                return true;
            }
        }
        return false;
    }
}
