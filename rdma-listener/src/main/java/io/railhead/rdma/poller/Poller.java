package io.railhead.rdma.poller;

import io.railhead.os.AdaptiveSpin;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that handles completions, tasks of other threads, and deadlines. Only this thread
 * touches its queue pairs. When idle it spins for a while ({@link AdaptiveSpin}) and then sleeps:
 *
 * <pre>
 *   arm the completion queue ─▶ poll again ─▶ say "asleep" ─▶ look into the inbox again ─▶ sleep
 * </pre>
 *
 * So no completion or message is missed between the last check and the sleep. A sender puts its
 * message into the inbox first, then checks "asleep", and wakes the poller.
 */
public final class Poller implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Poller.class);
    private static final int INBOX_CHUNK = 256;
    private static final int MESSAGES_A_TURN = 64;
    private static final long FAILED_NANOS = 1_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private record Deadline(long nanos, Runnable task) {}

    private final CompletionHandler completionHandler;
    private final AdaptiveSpin spin;
    private final LongSupplier nanoClock;
    private final LongConsumer spun;
    private final MpscUnboundedAtomicArrayQueue<Runnable> inbox = new MpscUnboundedAtomicArrayQueue<>(
            INBOX_CHUNK);
    private final MessagePassingQueue.Consumer<Runnable> runner = Poller::run;
    private final PriorityQueue<Deadline> deadlines = new PriorityQueue<>(
            (a, b) -> Long.signum(a.nanos - b.nanos));
    private final AtomicBoolean asleep = new AtomicBoolean();
    private final Thread thread;
    private boolean failing;
    private volatile boolean closed;
    private volatile boolean ended;
    private volatile long cpuNanosAtEnd;

    /** @param spun receives the time spent spinning in vain */
    public Poller(String name, CompletionHandler completionHandler, AdaptiveSpin spin,
            LongSupplier nanoClock,
            LongConsumer spun) {
        this.completionHandler = completionHandler;
        this.spin = spin;
        this.nanoClock = nanoClock;
        this.spun = spun;
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::work);
    }

    public void start() {
        thread.start();
    }

    /** Returns the name of its thread. */
    public String name() {
        return thread.getName();
    }

    /** Returns the processor time of its thread, complete once the thread has ended. Any thread. */
    public long cpuNanos() {
        return Math.max(THREADS.getThreadCpuTime(thread.threadId()), cpuNanosAtEnd);
    }

    public boolean isCurrentThread() {
        return Thread.currentThread().equals(thread);
    }

    /** Runs a task on the poller or, once that has ended, on a caller's thread. Any thread. */
    @Override
    public void execute(Runnable message) {
        inbox.offer(message);
        if (ended) {
            runLeft();
            return;
        }
        // The queue's index, raised by CAS, and the flag are both volatile. Either this thread sees
        // "asleep", or the poller sees that the inbox is not empty.
        if (asleep.compareAndSet(true, false)) {
            completionHandler.wake();
        }
    }

    /** Runs the task after the delay, unless the poller ends before. Poller only. */
    public void schedule(long delayNanos, Runnable task) {
        deadlines.add(new Deadline(nanoClock.getAsLong() + delayNanos, task));
    }

    private synchronized void runLeft() {
        inbox.drain(runner);
    }

    /** Ends the thread after the tasks in the inbox. Not from the poller. */
    @Override
    public void close() {
        execute(() -> closed = true);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        ended = true;
        runLeft();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        try {
            loop();
        } finally {
            cpuNanosAtEnd = THREADS.getCurrentThreadCpuTime();
        }
    }

    private void loop() {
        long idleSince = 0;
        boolean idle = false;
        while (!closed) {
            if (turn()) {
                if (idle) {
                    spun.accept(nanoClock.getAsLong() - idleSince);
                    spin.found();
                    idle = false;
                }
                continue;
            }
            long now = nanoClock.getAsLong();
            if (!idle) {
                idle = true;
                idleSince = now;
            }
            if (now - idleSince < spin.allowanceNanos()) {
                Thread.onSpinWait();
                continue;
            }
            spun.accept(now - idleSince);
            idle = false;
            try {
                sleep();
            } catch (Throwable e) {
                asleep.set(false);
                failed(e);
            }
        }
    }

    /** Runs one turn; returns whether there was anything to do. */
    private boolean turn() {
        int done = guarded();
        done += inbox.drain(runner, MESSAGES_A_TURN);
        return done + expire() > 0;
    }

    private int guarded() {
        try {
            return completionHandler.poll();
        } catch (Throwable e) {
            failed(e);
            return 0;
        }
    }

    /**
     * Handles a failed turn, as after the removal of the device: the inbox is still served, at a
     * slow pace.
     */
    private void failed(Throwable e) {
        if (!failing) {
            failing = true;
            log.error("{} fails, and goes on trying", thread.getName(), e);
        }
        LockSupport.parkNanos(FAILED_NANOS);
    }

    private int expire() {
        int ran = 0;
        Deadline next = deadlines.peek();
        while (next != null && nanoClock.getAsLong() - next.nanos >= 0) {
            deadlines.remove();
            run(next.task);
            ran++;
            next = deadlines.peek();
        }
        return ran;
    }

    private static void run(Runnable message) {
        try {
            message.run();
        } catch (Throwable e) {
            log.error("poller message", e);
        }
    }

    private void sleep() {
        completionHandler.arm();
        if (guarded() > 0) {
            return;
        }
        asleep.set(true);
        if (inbox.isEmpty()) {
            Deadline next = deadlines.peek();
            completionHandler.sleep(
                    next == null
                            ? Long.MAX_VALUE
                            : Math.max(0, next.nanos - nanoClock.getAsLong()));
            spin.slept();
        }
        asleep.set(false);
    }
}
