package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Partial files and multipart uploads that must not outlive the process. Signals end a JVM without
 * unwinding its threads, so a shutdown hook undoes unfinished ones. Any thread.
 */
final class Unfinished<T> implements AutoCloseable {
    private static final long GRACE_SECONDS = 5;
    private static final Set<Unfinished<?>> ALL = ConcurrentHashMap.newKeySet();
    /**
     * Shared by threads that begin. The hook takes it exclusively, and then nothing begins any
     * more.
     */
    private static final ReadWriteLock BEGINNING = new ReentrantReadWriteLock();
    /** Guarded by BEGINNING. */
    private static boolean isOver = !isHooked();

    private final T value;
    private final Undo<T> undo;

    private Unfinished(T value, Undo<T> undo) {
        this.value = value;
        this.undo = undo;
    }

    /** Begins work that must be undone at the process's end. */
    interface Begin<T> {
        T begin() throws IOException;
    }

    /** Undoes the work; may run while its writers still write. */
    interface Undo<T> {
        void undo(T begun) throws IOException;
    }

    /** Runs {@code begin}; until the result is closed, the process's end runs {@code undo}. */
    static <T> Unfinished<T> begin(Begin<T> begin, Undo<T> undo) throws IOException {
        BEGINNING.readLock().lock();
        try {
            if (isOver) {
                throw new InterruptedIOException("the process ends");
            }
            Unfinished<T> begun = new Unfinished<>(begin.begin(), undo);
            ALL.add(begun);
            return begun;
        } finally {
            BEGINNING.readLock().unlock();
        }
    }

    T value() {
        return value;
    }

    /** Notes that the work is done, or was undone by its owner. */
    @Override
    public void close() {
        ALL.remove(this);
    }

    private static boolean isHooked() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(Unfinished::end, "railhead-undo"));
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /**
     * Undoes everything. Waits for threads that are beginning, but less than a supervisor waits for
     * a process.
     */
    private static void end() {
        try {
            if (BEGINNING.writeLock().tryLock(GRACE_SECONDS, TimeUnit.SECONDS)) {
                try {
                    isOver = true;
                } finally {
                    BEGINNING.writeLock().unlock();
                }
            }
            undo(ALL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void undo(Collection<Unfinished<?>> all) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Unfinished<?> each : all) {
            threads.add(Thread.ofVirtual().start(each::undo));
        }
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(GRACE_SECONDS);
        for (Thread thread : threads) {
            long left = end - System.nanoTime();
            if (left > 0) {
                thread.join(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            }
        }
    }

    private void undo() {
        try {
            undo.undo(value);
        } catch (IOException | RuntimeException | Error e) {
            System.getLogger(Unfinished.class.getName())
                    .log(System.Logger.Level.WARNING, "left behind at the end: " + e.getMessage());
        }
    }
}
