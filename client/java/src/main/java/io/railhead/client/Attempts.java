package io.railhead.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Retries requests that may be sent twice, after a lost connection, a timeout or an overloaded
 * store.
 */
final class Attempts {
    private static final int MOST = 3;
    private static final long FIRST_PAUSE_MILLIS = 100;

    private Attempts() {}

    interface Attempt<T> {
        T run() throws IOException;
    }

    static <T> T idempotent(Attempt<T> attempt) throws IOException {
        for (int n = 1;; n++) {
            try {
                return attempt.run();
            } catch (IOException e) {
                if (n == MOST || !mayPass(e)) {
                    throw e;
                }
            }
            pause(n);
        }
    }

    private static boolean mayPass(IOException failure) {
        return switch (failure) {
            case S3Exception e -> e.isTransient();
            case PermanentException _ -> false;
            case NotAvailableException _ -> false;
            case MemoryHeldException _ -> false;
            default -> !FutureFailures.isInterruption(failure);
        };
    }

    private static void pause(int attempt) throws IOException {
        long millis = FIRST_PAUSE_MILLIS << (attempt - 1);
        try {
            Thread.sleep(millis + ThreadLocalRandom.current().nextLong(millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted between two attempts");
        }
    }
}
