package io.railhead.gateway;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Watches for what invariant I5 forbids, in three ways that do not take a busy machine for a loop's
 * fault. One is waiting within our code, for a lock, a future or a pause, in one wait for too long:
 * a loop that waits for its sockets is in a system call, not waiting for the JVM, and one that the
 * machine keeps from running is not waiting either. The others are seen where a loop's tasks can be
 * watched: taking too much of the processor's time, or sleeping in a system call, before the loop
 * comes to its next task.
 */
public final class LoopWatch implements AutoCloseable {
    static final Duration ALLOWED = Duration.ofMillis(100);
    private static final Duration BETWEEN = Duration.ofMillis(20);
    /** Where the watch itself comes late, others do: whoever holds a lock may not be running. */
    private static final Duration MOST_BETWEEN = BETWEEN.plusMillis(5);
    private static final Pattern LOOP = Pattern
            .compile("vert\\.x-eventloop-thread-\\d+|backend-.*-\\d+|fabric-loopback");

    /**
     * In {@code /proc/PID/task/TID/stat}, where R is for one that waits for a processor only, and D
     * for a disk, which may be slow.
     */
    private static final Pattern ASLEEP = Pattern.compile("\\) S ");

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final List<String> blocked = new CopyOnWriteArrayList<>();
    private final Map<Long, Wait> waits = new HashMap<>();
    private final List<Beat> beats = new CopyOnWriteArrayList<>();
    private long lookedAtNanos = System.nanoTime();
    private long watchedNanos;
    private final Thread watcher = Thread.ofPlatform().daemon().name("loop-watch").start(this::run);

    /** One wait, told from the next by how many there were. */
    private record Wait(long count, long sinceNanos) {}

    /** A task that runs again and again, and what its loop has computed since it was due. */
    private final class Beat implements Runnable {
        private final Executor loop;
        private volatile @Nullable Thread thread;
        private volatile @Nullable Path state;
        private volatile boolean isDue;
        private long dueAtNanos;
        private long stillSinceNanos;
        private long lastNanos;

        Beat(Executor loop) {
            this.loop = loop;
            isDue = true;
            loop.execute(this);
        }

        @Override
        public void run() {
            if (thread == null) {
                state = stateOfThisThread();
                thread = Thread.currentThread();
            }
            isDue = false;
        }

        /** By the watch alone. */
        void look() {
            Thread runs = thread;
            if (runs == null) {
                return;
            }
            long now = threads.getThreadCpuTime(runs.threadId());
            if (isDue && now - dueAtNanos > ALLOWED.toNanos()) {
                blocked.add(runs.getName() + " computed for " + (now - dueAtNanos) / 1_000_000
                        + " ms " + Arrays.toString(runs.getStackTrace()));
                dueAtNanos = Long.MAX_VALUE / 2;
            }
            lookForSystemCall(runs, now);
            if (!isDue) {
                dueAtNanos = now;
                isDue = true;
                again();
            }
        }

        /**
         * A thread that is in no wait of the JVM's, sleeps all the same whenever it is looked at,
         * and has not run since: in one system call, with the loop's next task due.
         */
        private void lookForSystemCall(Thread runs, long now) {
            if (!isDue || now != lastNanos || !sleeps()) {
                lastNanos = now;
                stillSinceNanos = watchedNanos;
            } else if (watchedNanos - stillSinceNanos > ALLOWED.toNanos()) {
                StackTraceElement[] stack = runs.getStackTrace();
                if (runs.getState() == Thread.State.RUNNABLE && isOurs(stack)
                        && threads.getThreadCpuTime(runs.threadId()) == now) {
                    blocked.add(runs.getName() + " in a system call " + Arrays.toString(stack));
                }
                stillSinceNanos = Long.MAX_VALUE / 2;
            }
        }

        private boolean sleeps() {
            Path at = state;
            try {
                return at != null && ASLEEP.matcher(Files.readString(at)).find();
            } catch (IOException e) {
                // It has ended.
                return false;
            }
        }

        private void again() {
            try {
                loop.execute(this);
            } catch (RejectedExecutionException e) {
                beats.remove(this);
            }
        }
    }

    /** These loops' turns, too, until they end. */
    public void watch(Iterable<? extends Executor> loops) {
        loops.forEach(loop -> beats.add(new Beat(loop)));
    }

    /** Where loops waited or computed for too long. */
    public List<String> blocked() {
        return List.copyOf(blocked);
    }

    private void run() {
        try {
            while (true) {
                Thread.sleep(BETWEEN);
                long now = System.nanoTime();
                watchedNanos += Math.min(now - lookedAtNanos, MOST_BETWEEN.toNanos());
                lookedAtNanos = now;
                look(watchedNanos);
                beats.forEach(Beat::look);
            }
        } catch (InterruptedException e) {
            // It was closed.
        }
    }

    private void look(long nowNanos) {
        List<Long> ids = new ArrayList<>();
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (info != null && isWaiting(info) && LOOP.matcher(info.getThreadName()).matches()) {
                ids.add(info.getThreadId());
                long count = info.getBlockedCount() + info.getWaitedCount();
                Wait wait = waits.get(info.getThreadId());
                if (wait == null || wait.count != count) {
                    waits.put(info.getThreadId(), new Wait(count, nowNanos));
                } else if (nowNanos - wait.sinceNanos > ALLOWED.toNanos()) {
                    report(info.getThreadId(), count);
                    waits.put(info.getThreadId(), new Wait(count, Long.MAX_VALUE / 2));
                }
            }
        }
        waits.keySet().retainAll(ids);
    }

    private static boolean isWaiting(ThreadInfo info) {
        return switch (info.getThreadState()) {
            case BLOCKED, WAITING, TIMED_WAITING -> true;
            default -> false;
        };
    }

    private void report(long id, long count) {
        ThreadInfo info = threads.getThreadInfo(id, 64);
        if (info == null || !isWaiting(info)
                || info.getBlockedCount() + info.getWaitedCount() != count) {
            return;
        }
        if (isOurs(info.getStackTrace())) {
            blocked.add(info.getThreadName() + " " + Arrays.toString(info.getStackTrace()));
        }
    }

    private static boolean isOurs(StackTraceElement[] stack) {
        return Arrays.stream(stack)
                .anyMatch(frame -> frame.getClassName().startsWith("io.railhead."));
    }

    /** Where the kernel says whether it runs. */
    private static @Nullable Path stateOfThisThread() {
        try {
            return Path.of("/proc")
                    .resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")))
                    .resolve("stat");
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
