package io.railhead.cli.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * GETs over HTTP. Each connection's request is signed once, and its bytes are sent again and again:
 * the server verifies each. Where the bytes go one-sided, each is signed anew, since it must be.
 */
final class HttpLoad implements Load {
    private final @Nullable SharedWindows windows;
    private final List<HttpWorker> workers = new ArrayList<>();
    private final List<LoadExchange> all = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    private HttpLoad(@Nullable SharedWindows ownedWindows) {
        windows = ownedWindows;
    }

    static HttpLoad open(MeasuredRun measuredRun, int mostThreads) throws IOException {
        HttpLoad load = new HttpLoad(
                measuredRun.way() == MeasuredRun.Way.TOKEN
                        ? SharedWindows.open(measuredRun)
                        : null);
        try {
            load.connect(measuredRun, Math.clamp(measuredRun.connections(), 1, mostThreads));
            return load;
        } catch (IOException | RuntimeException | Error e) {
            load.close();
            throw e;
        }
    }

    private void connect(MeasuredRun measuredRun, int threadCount) throws IOException {
        for (int thread = 0; thread < threadCount; thread++) {
            HttpWorker worker = new HttpWorker();
            workers.add(worker);
            threads.add(Thread.ofPlatform().name("client-" + thread).unstarted(worker));
        }
        for (int i = 0; i < measuredRun.connections(); i++) {
            HttpWorker worker = workers.get(i % threadCount);
            LoadExchange exchange = new LoadExchange(
                    RawHttp.address(measuredRun.port()), requests(measuredRun, i),
                    measuredRun.objectBytes(), windows != null, worker);
            all.add(exchange);
            worker.own(exchange);
        }
    }

    private RepeatedRequest requests(MeasuredRun measuredRun, int connection) {
        String host = RawHttp.host(measuredRun.port());
        SigV4 signer = SigV4.at(Instant.now(), measuredRun.accessKey(), measuredRun.secretKey(),
                host);
        return switch (measuredRun.way()) {
            case UNSIGNED -> RepeatedRequest.same(unsigned(measuredRun.path(), host));
            case SIGNED -> RepeatedRequest
                    .same(signer.sign("GET", measuredRun.path(), "", Map.of()).bytes());
            case TOKEN -> new RepeatedRequest.SignedAnew(signer, "GET", measuredRun.path(),
                    Map.of("x-amz-rdma-token", requireNonNull(windows)
                            .token(connection)));
            case NATIVE, COPY -> throw new IllegalArgumentException("not asked for over HTTP");
        };
    }

    private static byte[] unsigned(String path, String host) {
        return ("GET " + path + " HTTP/1.1\r\nhost: " + host + "\r\n\r\n")
                .getBytes(ISO_8859_1);
    }

    @Override
    public void start() {
        threads.forEach(Thread::start);
    }

    @Override
    public long bytes() {
        return workers.stream().mapToLong(worker -> worker.bytes().get()).sum();
    }

    @Override
    public List<Latencies> latencies() {
        return workers.stream().map(HttpWorker::latencies).toList();
    }

    @Override
    public void requireRunning() throws IOException {
        for (HttpWorker worker : workers) {
            worker.requireRunning();
        }
    }

    @Override
    public void close() throws IOException {
        workers.forEach(HttpWorker::stop);
        for (Thread thread : threads) {
            Load.join(thread);
        }
        for (HttpWorker worker : workers) {
            worker.close();
        }
        if (windows != null) {
            for (int i = 0; i < all.size(); i++) {
                if (all.get(i).hasEnded()) {
                    windows.requireDelivered(i);
                }
            }
            // Returns when the gateway has let go of them.
            windows.close();
        }
        requireRunning();
    }
}
