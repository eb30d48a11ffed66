package io.railhead.gateway;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Clients that read, write and read again what they wrote until this is closed, and try again what
 * fails as SDKs do: up to so many attempts, after a random part of 0.1 s, doubled each time up to 5
 * s. Each looks at every byte that it gets.
 */
public final class SteadyLoad implements AutoCloseable {
    private static final int OBJECTS = 40;
    private static final int MAX_BYTES = 600_000;
    private static final int CLIENTS = 6;
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5000;

    private final int attempts;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<byte[]> objects = new ArrayList<>();
    private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Long> hitNanos = new ConcurrentLinkedQueue<>();
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong retries = new AtomicLong();
    private volatile TestClient client;
    private volatile boolean over;

    /** @param attempts that one request may have */
    public SteadyLoad(FakeStore store, TestClient client, long seed, int attempts) {
        this.client = client;
        this.attempts = attempts;
        Random random = new Random(seed);
        for (int i = 0; i < OBJECTS; i++) {
            byte[] object = new byte[1 + random.nextInt(MAX_BYTES)];
            random.nextBytes(object);
            objects.add(object);
            store.put("/held/o" + i, object);
            store.put("/fresh/o" + i, object);
        }
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            threads.execute(() -> ask(number, new Random(seed * 31 + number)));
        }
    }

    /** What asks from now on. */
    void use(TestClient other) {
        client = other;
    }

    /** Waits until so many more requests have succeeded, or one has failed for good. */
    public void awaitMore(int requests) {
        long goal = done.get() + requests;
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (done.get() < goal && failures.isEmpty()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(done.get() + " requests are done, not " + goal);
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }

    public long done() {
        return done.get();
    }

    public long retries() {
        return retries.get();
    }

    /** What failed for good, or was not what it had to be. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** What reads that succeeded at once took since this was asked last; 0 if there was none. */
    public long medianHitNanos() {
        List<Long> taken = new ArrayList<>();
        for (Long each = hitNanos.poll(); each != null; each = hitNanos.poll()) {
            taken.add(each);
        }
        taken.sort(null);
        return taken.isEmpty() ? 0 : taken.get(taken.size() / 2);
    }

    private void ask(int number, Random random) {
        for (int turn = 0; !over; turn++) {
            try {
                ask(number, turn, random);
                done.incrementAndGet();
            } catch (AssertionError e) {
                failures.add(e.toString());
            } catch (CompletionException e) {
                // Who closes this may have taken the gateway away.
                if (!over) {
                    failures.add(e.toString());
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void ask(int number, int turn, Random random) throws InterruptedException {
        int which = random.nextInt(OBJECTS);
        byte[] object = objects.get(which);
        String bucket = random.nextBoolean() ? "/held/o" : "/fresh/o";
        switch (random.nextInt(8)) {
            case 0 -> {
                String own = "/fresh/own-" + number + "-" + turn % 8;
                byte[] written = Arrays.copyOf(object, 1 + random.nextInt(object.length));
                require(200, new byte[0], again("PUT", own, written));
                require(200, written, again("GET", own, new byte[0]));
            }
            case 1 -> require(200, new byte[0], again("HEAD", bucket + which, new byte[0]));
            case 2, 3 -> {
                int first = random.nextInt(object.length);
                int last = first + random.nextInt(object.length - first);
                require(206, Arrays.copyOfRange(object, first, last + 1),
                        again("GET", bucket + which, new byte[0], "Range",
                                "bytes=" + first + "-" + last));
            }
            default -> {
                long begun = System.nanoTime();
                long before = retries.get();
                require(200, object, again("GET", bucket + which, new byte[0]));
                if (retries.get() == before) {
                    hitNanos.add(System.nanoTime() - begun);
                }
            }
        }
    }

    private static void require(int status, byte[] body, HttpResponse<byte[]> answer) {
        if (answer.statusCode() != status || !Arrays.equals(answer.body(), body)) {
            throw new AssertionError(answer.request().method() + " " + answer.uri() + ": "
                    + answer.statusCode() + " with " + answer.body().length + " bytes, not "
                    + status + " with these " + body.length);
        }
    }

    private HttpResponse<byte[]> again(String method, String path, byte[] body,
            String... headers) throws InterruptedException {
        for (int attempt = 1; true; attempt++) {
            HttpResponse<byte[]> answer = null;
            try {
                answer = client.send(method, path, body, headers);
            } catch (CompletionException e) {
                if (!(e.getCause() instanceof IOException) || attempt == attempts || over) {
                    throw e;
                }
            }
            if (answer != null && (!mayRetry(answer) || attempt == attempts)) {
                return answer;
            }
            retries.incrementAndGet();
            TimeUnit.MILLISECONDS.sleep(pauseMillis(attempt));
        }
    }

    private static boolean mayRetry(@Nullable HttpResponse<byte[]> answer) {
        return answer == null || answer.statusCode() >= 500 || answer.statusCode() == 429;
    }

    private static long pauseMillis(int attempt) {
        long most = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(attempt - 1, 10));
        return ThreadLocalRandom.current().nextLong(most);
    }

    /** Waits for what is under way. */
    @Override
    public void close() {
        over = true;
        threads.close();
    }
}
