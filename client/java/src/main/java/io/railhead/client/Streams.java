package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A fixed number of threads for the parts of large objects; with one stream, the caller's own
 * thread.
 */
final class Streams implements AutoCloseable {
    private final int count;
    private final ExecutorService threads;

    Streams(int count) {
        this.count = count;
        threads = Executors.newFixedThreadPool(count,
                Thread.ofPlatform().daemon().name("railhead-stream-", 0).factory());
    }

    int count() {
        return count;
    }

    /**
     * Runs all tasks; after the first failure, tasks that have not begun are skipped. Returns or
     * throws only when no task runs any more, so that none writes to an abandoned destination.
     */
    <T> List<T> all(List<Callable<T>> tasks) throws IOException {
        List<T> results = new ArrayList<>();
        if (count == 1 || tasks.size() == 1) {
            for (Callable<T> task : tasks) {
                results.add(call(task));
            }
            return results;
        }
        AtomicBoolean failed = new AtomicBoolean();
        List<Future<T>> futures = new ArrayList<>();
        Throwable first = null;
        try {
            for (Callable<T> task : tasks) {
                futures.add(threads.submit(() -> unlessFailed(task, failed)));
            }
        } catch (RejectedExecutionException e) {
            failed.set(true);
            first = closed(e);
        }
        for (Future<T> future : futures) {
            try {
                results.add(await(future, failed));
            } catch (CancellationException e) {
                first = first == null ? closed(e) : first;
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                if (first == null || first instanceof Skipped) {
                    first = cause;
                } else if (!(cause instanceof Skipped)) {
                    first.addSuppressed(cause);
                }
            }
        }
        if (first != null) {
            throw asIo(first);
        }
        return results;
    }

    private static <T> T unlessFailed(Callable<T> task, AtomicBoolean failed) throws Exception {
        if (failed.get()) {
            throw new Skipped();
        }
        boolean done = false;
        try {
            T result = task.call();
            done = true;
            return result;
        } finally {
            if (!done) {
                failed.set(true);
            }
        }
    }

    /** Waits, even if interrupted: a running part still touches its destination. */
    private static <T> T await(Future<T> future, AtomicBoolean failed) throws ExecutionException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    failed.set(true);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static IOException closed(RuntimeException cause) {
        return new IOException("the client is closed", cause);
    }

    private static <T> T call(Callable<T> task) throws IOException {
        try {
            return task.call();
        } catch (Exception e) {
            throw asIo(e);
        }
    }

    private static IOException asIo(Throwable failure) {
        return switch (failure) {
            case IOException e -> e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Skipped _ -> new InterruptedIOException("interrupted");
            default -> new IOException(failure);
        };
    }

    /** Stops further tasks; callers that wait return once the running ones have ended. */
    @Override
    public void close() {
        for (Runnable never : threads.shutdownNow()) {
            ((Future<?>) never).cancel(false);
        }
    }

    private static final class Skipped extends Exception {
        private static final long serialVersionUID = 1L;
    }
}
