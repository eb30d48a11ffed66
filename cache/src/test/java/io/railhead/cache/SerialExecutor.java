package io.railhead.cache;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Runs one task at a time, in order, on threads of another executor, as an event loop would. */
public final class SerialExecutor implements Executor {
    private final Executor threads;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    public SerialExecutor(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (tasks) {
            tasks.add(task);
            if (running) {
                return;
            }
            running = true;
        }
        threads.execute(this::drain);
    }

    private void drain() {
        for (Runnable task = next(); task != null; task = next()) {
            task.run();
        }
    }

    private @Nullable Runnable next() {
        synchronized (tasks) {
            Runnable task = tasks.poll();
            running = task != null;
            return task;
        }
    }
}
