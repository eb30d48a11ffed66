package io.railhead.cli.local;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * A shell that outlives this process, even after a SIGKILL, to end its children and delete their
 * folder. It reads a pipe whose only writer is this process, so the pipe's end marks this process's
 * end. Any thread.
 *
 * <p> {@code PR_SET_PDEATHSIG} does not work for this: it fires when the forking thread ends.
 */
final class Watchdog implements AutoCloseable {
    /**
     * The shell's script. The terminal's signals reach the whole group, and the shell must survive
     * them.
     */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            children=
            while read -r word pid; do
                case $word in
                    started) children="$children $pid" ;;
                    ended)
                        others=
                        for each in $children; do
                            [ "$each" = "$pid" ] || others="$others $each"
                        done
                        children=$others
                        ;;
                    closed) exit 0 ;;
                esac
            done
            signal() {
                for each in $children; do kill "-$1" "$each" 2>/dev/null && found=1; done
            }
            signal TERM
            tries=0
            found=1
            while [ "$found" ] && [ "$tries" -lt 50 ]; do
                sleep 0.1
                tries=$((tries + 1))
                found=
                signal 0
            done
            signal KILL
            rm -rf -- "$1"
            """;

    private final Process shell;
    private final OutputStream pipe;

    private Watchdog(Process shell) {
        this.shell = shell;
        pipe = shell.getOutputStream();
    }

    static Watchdog start(Path folder) throws IOException {
        return new Watchdog(new ProcessBuilder("/bin/sh", "-c", SCRIPT, "railhead-watchdog",
                folder.toAbsolutePath().toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /**
     * Registers a child, to be ended with this process. A child that ends earlier is removed, since
     * another process may get its number.
     */
    void watch(Process child) throws IOException {
        tell("started " + child.pid());
        CompletableFuture<?> _ = child.onExit().thenRun(() -> {
            try {
                tell("ended " + child.pid());
            } catch (IOException e) {
                // The shell is gone.
            }
        });
    }

    private synchronized void tell(String line) throws IOException {
        pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        pipe.flush();
    }

    /** Ends the shell, since no child is left. */
    @Override
    public void close() {
        try (pipe) {
            tell("closed");
            shell.waitFor();
        } catch (IOException e) {
            // The shell is gone.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
