package io.railhead.cli.bench;

import java.io.IOException;
import java.util.List;

/** Requests that follow one another on a number of connections, until it is closed. */
interface Load extends AutoCloseable {

    /** Begins; returns at once. */
    void start() throws IOException;

    /** Received so far, of unfinished bodies too. */
    long bytes();

    /** Of what has ended so far, of each of its threads. */
    List<Latencies> latencies();

    /** Throws what ended it. */
    void requireRunning() throws IOException;

    @Override
    void close() throws IOException;

    /** Waits for a thread of the load to end, if it was started. */
    static void join(Thread thread) throws IOException {
        try {
            if (thread.getState() != Thread.State.NEW) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
