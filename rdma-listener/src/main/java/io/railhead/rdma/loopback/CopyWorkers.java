package io.railhead.rdma.loopback;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that copy. Each principal has a lane, and lanes take turns by single steps. So one
 * principal's long queue delays another only by the steps that are running. A lane has a bounded
 * number of workers at a time. Chores (unmapping, aborting) go before all copies.
 *
 * <p> One lock guards queues and lanes; no step runs under it. A step copies a piece of bounded
 * size, against which the lock is cheap.
 */
final class CopyWorkers implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CopyWorkers.class);

    /** Work that is done in steps, by one thread at a time. */
    interface Work {

        /** Does one step; returns whether there is more to do. Does not throw. */
        boolean step();
    }

    private static final class Lane {
        final String principal;
        final Deque<Work> queue = new ArrayDeque<>();
        int running;
        boolean ready;

        Lane(String principal) {
            this.principal = principal;
        }
    }

    private record Turn(Lane lane, Work work) {}

    private final int maxPerLane;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, Lane> lanes = new HashMap<>();
    private final Deque<Lane> ready = new ArrayDeque<>();
    private final Deque<Runnable> chores = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private final String name;
    private final int workers;
    private boolean closed;
    private int alive;

    /** The threads start with the first work. */
    CopyWorkers(String name, int workers, int maxPerLane) {
        this.name = name;
        this.workers = workers;
        this.maxPerLane = maxPerLane;
    }

    /** Under the lock. */
    private void requireThreads() {
        if (threads.isEmpty() && !closed) {
            alive = workers;
            for (int i = 0; i < workers; i++) {
                threads.add(Thread.ofPlatform().name(name + i).daemon().start(this::work));
            }
        }
    }

    /** Adds work; false once closed, and then the work is not done. */
    boolean trySubmit(String principal, Work work) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            requireThreads();
            Lane lane = lanes.computeIfAbsent(principal, Lane::new);
            lane.queue.add(work);
            makeReady(lane);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Runs a chore on a worker, or on the caller's thread once all workers have gone. */
    @Override
    public void execute(Runnable chore) {
        lock.lock();
        try {
            requireThreads();
            if (alive > 0) {
                chores.add(chore);
                changed.signal();
                return;
            }
        } finally {
            lock.unlock();
        }
        chore.run();
    }

    /** Refuses further work, finishes the queued work, and returns when the threads have ended. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        for (Runnable next = take(); next != null; next = take()) {
            try {
                next.run();
            } catch (Throwable e) {
                log.error("loopback copy worker", e);
            }
        }
    }

    /** Returns the next task; null when closed and all is done. */
    private @Nullable Runnable take() {
        lock.lock();
        try {
            while (true) {
                Runnable chore = chores.poll();
                if (chore != null) {
                    return chore;
                }
                Turn turn = pollTurn();
                if (turn != null) {
                    return () -> run(turn);
                }
                if (closed && lanes.isEmpty()) {
                    alive--;
                    changed.signalAll();
                    return null;
                }
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Turn pollTurn() {
        Lane lane = ready.poll();
        if (lane == null) {
            return null;
        }
        lane.ready = false;
        lane.running++;
        Turn turn = new Turn(lane, lane.queue.remove());
        makeReady(lane);
        return turn;
    }

    private void run(Turn turn) {
        boolean more = false;
        try {
            more = turn.work().step();
        } finally {
            done(turn, more);
        }
    }

    private void done(Turn turn, boolean more) {
        Lane lane = turn.lane();
        lock.lock();
        try {
            lane.running--;
            if (more) {
                lane.queue.addFirst(turn.work());
            }
            makeReady(lane);
            if (lane.running == 0 && lane.queue.isEmpty()) {
                lanes.remove(lane.principal);
                if (closed) {
                    changed.signalAll();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void makeReady(Lane lane) {
        if (!lane.ready && !lane.queue.isEmpty() && lane.running < maxPerLane) {
            lane.ready = true;
            ready.add(lane);
            changed.signal();
        }
    }
}
