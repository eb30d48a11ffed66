package io.railhead.benchmarks.store;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import io.railhead.backend.BackendConfig;
import io.railhead.backend.Caller;
import io.railhead.backend.FetchTurn;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.aws.AwsBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.http.SdkHttpFullRequest;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler;
import software.amazon.awssdk.http.async.SdkAsyncHttpService;
import software.amazon.awssdk.http.async.SdkHttpContentPublisher;
import software.amazon.awssdk.utils.AttributeMap;

/**
 * The backend connector beside the HTTP clients that the SDK finds on the class path: Netty's, and
 * with the Maven profile {@code crt} its CRT client, by turns, unsigned, one {@link ZeroStore}
 * behind all. Every body is copied once, as a fill copies it into pages.
 */
public final class StoreClients {
    private static final long GIB = 1 << 30;
    private static final int MIB = 1 << 20;
    private static final int PAGE_BYTES = 256 << 10;
    private static final String KEY = "bucket/key";

    /** What a client is asked for. */
    private enum Work {
        GET_8M("GET 8 MiB, 4 at a time", 8 * MIB, 4, false),
        GET_64K("GET 64 KiB, 32 at a time", 64 << 10, 32, false),
        PUT_8M("PUT 8 MiB, 4 at a time", 8 * MIB, 4, true);

        private final String label;
        private final int bytes;
        private final int atATime;
        private final boolean writes;

        Work(String label, int bytes, int atATime, boolean writes) {
            this.label = label;
            this.bytes = bytes;
            this.atATime = atATime;
            this.writes = writes;
        }
    }

    /** Somebody who asks. */
    private interface Contender {
        /**
         * Completes with the bytes moved once all of them have been.
         *
         * @param page where a body is copied to, over and over
         */
        CompletionStage<Long> ask(Work work, ByteBuffer page);
    }

    private record Turn(double gigabits, double cpuPerGib) {}

    private StoreClients() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 7;
        double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 1;
        Process store = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
                ZeroStore.class.getName()).redirectError(Redirect.INHERIT).start();
        try (BufferedReader lines = store.inputReader(StandardCharsets.UTF_8)) {
            URI endpoint = URI.create("http://127.0.0.1:" + lines.readLine());
            Map<String, Contender> contenders = contenders(endpoint);
            System.out.println("| what | client | Gb/s | client's CPU s/GiB |\n|---|---|---|---|");
            for (Work work : Work.values()) {
                measure(work, contenders, rounds, seconds);
            }
        } finally {
            store.destroy();
        }
        System.exit(0);
    }

    private static Map<String, Contender> contenders(URI endpoint) {
        Map<String, Contender> contenders = new LinkedHashMap<>();
        AwsBackend backend = new AwsBackend(new BackendConfig("bench", List.of(endpoint),
                "us-east-1", null, true, Duration.ofSeconds(3), Duration.ofSeconds(30),
                Duration.ofSeconds(10), 256, 3, BackendConfig.TrailerPolicy.DROP,
                BackendConfig.Fetches.of(256), null));
        contenders.put("backend connector", (work, page) -> throughBackend(backend, work, page));
        for (SdkAsyncHttpService service : ServiceLoader.load(SdkAsyncHttpService.class)) {
            SdkAsyncHttpClient client = service.createAsyncHttpClientFactory()
                    .buildWithDefaults(AttributeMap.empty());
            contenders.put(client.clientName(), (work, page) -> raw(client, endpoint, work, page));
        }
        return contenders;
    }

    private static void measure(Work work, Map<String, Contender> contenders, int rounds,
            double seconds) throws ExecutionException, InterruptedException {
        Map<String, List<Turn>> turns = new LinkedHashMap<>();
        List<String> order = new ArrayList<>(contenders.keySet());
        for (int round = -rounds; round < rounds; round++) {
            Collections.rotate(order, 1);
            for (String name : order) {
                Turn turn = turn(requireNonNull(contenders.get(name)), work, seconds);
                if (round >= 0) {
                    turns.computeIfAbsent(name, _ -> new ArrayList<>()).add(turn);
                }
            }
        }
        for (String name : contenders.keySet()) {
            List<Turn> all = turns.getOrDefault(name, List.of());
            System.out.printf(Locale.ROOT, "| %s | %s | %s | %s |%n", work.label, name,
                    spread(all.stream().mapToDouble(Turn::gigabits).sorted().toArray()),
                    spread(all.stream().mapToDouble(Turn::cpuPerGib).sorted().toArray()));
        }
    }

    private static String spread(double[] sorted) {
        return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", sorted[sorted.length / 2],
                sorted[0], sorted[sorted.length - 1]);
    }

    private static Turn turn(Contender contender, Work work, double seconds)
            throws ExecutionException, InterruptedException {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory
                .getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long began = System.nanoTime();
        long until = began + (long) (seconds * 1e9);
        List<CompletableFuture<Long>> streams = new ArrayList<>();
        for (int i = 0; i < work.atATime; i++) {
            CompletableFuture<Long> stream = new CompletableFuture<>();
            streams.add(stream);
            again(contender, work, ByteBuffer.allocateDirect(PAGE_BYTES), until, 0, stream);
        }
        long bytes = 0;
        for (CompletableFuture<Long> stream : streams) {
            bytes += stream.get();
        }
        double took = (System.nanoTime() - began) / 1e9;
        return new Turn(bytes * 8 / 1e9 / took,
                (system.getProcessCpuTime() - cpu) / 1e9 * GIB / bytes);
    }

    private static void again(Contender contender, Work work, ByteBuffer page, long until,
            long bytes,
            CompletableFuture<Long> stream) {
        var _ = contender.ask(work, page).whenComplete((moved, failure) -> {
            if (failure != null) {
                stream.completeExceptionally(failure);
            } else if (moved != work.bytes) {
                stream.completeExceptionally(new IOException(moved + " bytes moved"));
            } else if (System.nanoTime() > until) {
                stream.complete(bytes + moved);
            } else {
                again(contender, work, page, until, bytes + moved, stream);
            }
        });
    }

    private static CompletionStage<Long> throughBackend(AwsBackend backend, Work work,
            ByteBuffer page) {
        Target target = new Target("bucket", "key", null);
        if (work.writes) {
            return backend.send(Requests.put(target, new Caller.Anonymous(), Headers.NONE,
                    new Payload.Stream(new Zeros(work.bytes), work.bytes, "UNSIGNED-PAYLOAD",
                            Map.of())))
                    .thenApply(answer -> {
                        requireOk(answer.status());
                        return (long) work.bytes;
                    });
        }
        Copy copy = new Copy(page);
        return backend.fetch(Requests.rangedGet(target, new Caller.Anonymous(), 0, work.bytes,
                null), FetchTurn.wanted("")).thenCompose(answer -> {
                    requireOk(answer.status());
                    answer.body().subscribe(copy);
                    return copy.whole;
                });
    }

    private static CompletionStage<Long> raw(SdkAsyncHttpClient client, URI endpoint, Work work,
            ByteBuffer page) {
        SdkHttpFullRequest.Builder request = SdkHttpFullRequest.builder()
                .uri(endpoint)
                .encodedPath("/" + KEY)
                .putHeader("Host", endpoint.getAuthority());
        if (work.writes) {
            request.method(SdkHttpMethod.PUT)
                    .putHeader("Content-Length", Integer.toString(work.bytes));
        } else {
            request.method(SdkHttpMethod.GET)
                    .putHeader("Range", "bytes=0-" + (work.bytes - 1));
        }
        Copy copy = new Copy(page);
        CompletableFuture<Void> done = client.execute(AsyncExecuteRequest.builder()
                .request(request.build())
                .requestContentPublisher(new Zeros(work.writes ? work.bytes : 0))
                .responseHandler(copy)
                .build());
        return done.thenCompose(_ -> copy.whole)
                .thenApply(moved -> work.writes ? (long) work.bytes : moved);
    }

    private static void requireOk(int status) {
        if (status / 100 != 2) {
            throw new IllegalStateException("answered " + status);
        }
    }

    /** Copies a body to where the last one's went. */
    private static final class Copy
            implements
                SdkAsyncHttpResponseHandler,
                Subscriber<ByteBuffer> {
        private final ByteBuffer page;
        private final CompletableFuture<Long> whole = new CompletableFuture<>();
        private long bytes;

        Copy(ByteBuffer page) {
            this.page = page;
        }

        @Override
        public void onHeaders(SdkHttpResponse head) {
            requireOk(head.statusCode());
        }

        @Override
        public void onStream(Publisher<ByteBuffer> stream) {
            stream.subscribe(this);
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(ByteBuffer some) {
            bytes += some.remaining();
            while (some.hasRemaining()) {
                if (!page.hasRemaining()) {
                    page.clear();
                }
                int part = Math.min(page.remaining(), some.remaining());
                page.put(some.slice(some.position(), part));
                some.position(some.position() + part);
            }
        }

        @Override
        public void onError(Throwable failure) {
            whole.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            whole.complete(bytes);
        }
    }

    /** A body of zeros in pieces of 64 KiB. */
    private static final class Zeros implements SdkHttpContentPublisher {
        private static final byte[] PIECE = new byte[64 << 10];
        private final long length;

        Zeros(long length) {
            this.length = length;
        }

        @Override
        public Optional<Long> contentLength() {
            return Optional.of(length);
        }

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            subscriber.onSubscribe(new Subscription() {
                private long left = length;
                private long wanted;
                private boolean sending;
                private boolean over;

                @Override
                public synchronized void request(long count) {
                    wanted = wanted + count < 0 ? Long.MAX_VALUE : wanted + count;
                    if (sending) {
                        return;
                    }
                    sending = true;
                    while (wanted > 0 && left > 0) {
                        int part = (int) Math.min(left, PIECE.length);
                        left -= part;
                        wanted--;
                        subscriber.onNext(ByteBuffer.wrap(PIECE, 0, part).asReadOnlyBuffer());
                    }
                    sending = false;
                    if (left == 0 && !over) {
                        over = true;
                        subscriber.onComplete();
                    }
                }

                @Override
                public synchronized void cancel() {
                    left = 0;
                    over = true;
                }
            });
        }
    }
}
