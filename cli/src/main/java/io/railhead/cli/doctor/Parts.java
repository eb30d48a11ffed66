package io.railhead.cli.doctor;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs all checks in parallel, and shows a waiting user the ones under way. A failed check is
 * repeated after all others have ended: on a loaded machine, parallel checks can delay each other's
 * responses.
 */
final class Parts {
    private static final long QUIET_MILLIS = 1000;
    private static final long REDRAW_MILLIS = 200;
    private static final int WIDTH = 79;

    private final PrintWriter err;
    private final boolean watched;
    private final Set<String> pending = new ConcurrentSkipListSet<>();

    Parts(PrintWriter err, boolean watched) {
        this.err = err;
        this.watched = watched;
    }

    /** Returns an instance without a terminal. */
    static Parts unwatched() {
        return new Parts(new PrintWriter(Writer.nullWriter()), false);
    }

    /** Returns the findings in the order of the checks. */
    List<Finding> lookAt(List<ParallelCheck> parts) {
        List<List<Finding>> first = lookOnce(parts);
        List<ParallelCheck> failed = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            if (hasFailed(first.get(i))) {
                failed.add(parts.get(i));
            }
        }
        Iterator<List<Finding>> again = lookOnce(failed).iterator();
        return first.stream()
                .flatMap(look -> (hasFailed(look) ? again.next() : look).stream())
                .toList();
    }

    private static boolean hasFailed(List<Finding> look) {
        return look.stream().anyMatch(finding -> finding.mark() == Finding.Mark.FAIL);
    }

    private List<List<Finding>> lookOnce(List<ParallelCheck> parts) {
        parts.forEach(parallelCheck -> pending.add(parallelCheck.name()));
        // Platform threads, since resolvers block in native code.
        ExecutorService threads = Executors
                .newThreadPerTaskExecutor(
                        Thread.ofPlatform().daemon().name("doctor-", 0).factory());
        try {
            List<CompletableFuture<List<Finding>>> looks = parts.stream()
                    .map(parallelCheck -> CompletableFuture.supplyAsync(() -> look(parallelCheck),
                            threads))
                    .toList();
            await(CompletableFuture.allOf(looks.toArray(CompletableFuture[]::new)));
            return looks.stream().map(CompletableFuture::join).toList();
        } finally {
            threads.shutdown();
        }
    }

    private List<Finding> look(ParallelCheck parallelCheck) {
        try {
            return parallelCheck.look().get();
        } catch (RuntimeException | Error e) {
            return List.of(Finding.fail(parallelCheck.name(), "could not be looked at: " + e,
                    "a failed check may hide a fault", "please report this, with --json"));
        } finally {
            pending.remove(parallelCheck.name());
        }
    }

    private void await(CompletableFuture<Void> all) {
        long wait = QUIET_MILLIS;
        boolean drawn = false;
        while (true) {
            try {
                all.get(wait, TimeUnit.MILLISECONDS);
                break;
            } catch (TimeoutException e) {
                drawn = watched;
                draw("waiting for " + String.join(", ", pending));
                wait = REDRAW_MILLIS;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            }
        }
        if (drawn) {
            draw("");
            err.print("\r");
            err.flush();
        }
    }

    private void draw(String text) {
        if (watched) {
            err.print("\r" + String.format("%-" + WIDTH + "s",
                    text.length() > WIDTH ? text.substring(0, WIDTH - 1) + "…" : text));
            err.flush();
        }
    }
}
