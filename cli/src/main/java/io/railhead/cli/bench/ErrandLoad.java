package io.railhead.cli.bench;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An errand, with a blocking thread and a connection of its own for each of the turn's connections.
 * Every byte's place is checked, by one number of each buffer that has come.
 */
final class ErrandLoad implements Load {
    private final MeasuredRun measuredRun;
    private final OneShotRequest oneShotRequest;
    private final @Nullable SharedWindows windows;
    private final AtomicInteger nextPiece = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Counter> counters = new ArrayList<>();
    private final Latencies latencies = new Latencies();
    private volatile @Nullable Throwable failure;

    private ErrandLoad(MeasuredRun measuredRun, OneShotRequest oneShotRequest,
            @Nullable SharedWindows ownedWindows) {
        this.measuredRun = measuredRun;
        this.oneShotRequest = oneShotRequest;
        windows = ownedWindows;
        for (int i = 0; i < measuredRun.connections(); i++) {
            int number = i;
            Counter bytes = new Counter();
            counters.add(bytes);
            threads.add(Thread.ofPlatform()
                    .name("client-" + number)
                    .unstarted(() -> run(number, bytes)));
        }
    }

    static ErrandLoad open(MeasuredRun measuredRun, OneShotRequest oneShotRequest)
            throws IOException {
        @Nullable
        SharedWindows windows = null;
        if (measuredRun.way() == MeasuredRun.Way.TOKEN) {
            windows = SharedWindows.open(measuredRun);
            windows.fill();
        }
        return new ErrandLoad(measuredRun, oneShotRequest, windows);
    }

    @Override
    public void start() {
        threads.forEach(Thread::start);
    }

    /** Until all of it is done. */
    void await() throws IOException {
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        requireRunning();
    }

    private void run(int number, Counter bytes) {
        try (ErrandConnection connection = new ErrandConnection(measuredRun.port(), bytes)) {
            for (int piece = first(); piece < oneShotRequest.pieces()
                    && failure == null; piece = next(
                            piece)) {
                long began = System.nanoTime();
                if (oneShotRequest.writes()) {
                    write(connection, number, piece);
                } else {
                    long from = piece * oneShotRequest.pieceBytes();
                    connection.read(head("GET", query(piece), range(piece)), from,
                            oneShotRequest.length(piece));
                }
                latencies.add(System.nanoTime() - began);
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    private int first() {
        return oneShotRequest.kind() == OneShotRequest.Kind.READ_EACH
                ? 0
                : nextPiece.getAndIncrement();
    }

    private int next(int piece) {
        return oneShotRequest.kind() == OneShotRequest.Kind.READ_EACH
                ? piece + 1
                : nextPiece.getAndIncrement();
    }

    private void write(ErrandConnection connection, int number, int piece) throws IOException {
        long length = oneShotRequest.length(piece);
        Map<String, String> headers = new HashMap<>();
        if (windows == null) {
            headers.put("content-length", Long.toString(length));
            connection.write(head("PUT", query(piece), headers), length);
        } else {
            headers.put("content-length", "0");
            headers.put("x-amz-rdma-token", windows.token(number));
            connection.offer(head("PUT", query(piece), headers), length);
        }
    }

    private String query(int piece) {
        return oneShotRequest.kind() == OneShotRequest.Kind.PARTS
                ? "partNumber=" + (piece + 1) + "&" + oneShotRequest.query()
                : oneShotRequest.query();
    }

    /** None where one request reads all. */
    private Map<String, String> range(int piece) {
        long from = piece * oneShotRequest.pieceBytes();
        return oneShotRequest.pieces() == 1
                ? Map.of()
                : Map.of("range",
                        "bytes=" + from + "-" + (from + oneShotRequest.length(piece) - 1));
    }

    private byte[] head(String method, String query, Map<String, String> headers) {
        SigV4 signer = SigV4.at(Instant.now(), measuredRun.accessKey(), measuredRun.secretKey(),
                RawHttp.host(measuredRun.port()));
        return signer
                .sign(method, "/" + measuredRun.bucket() + "/" + oneShotRequest.key(), query,
                        headers)
                .bytes();
    }

    @Override
    public long bytes() {
        return counters.stream().mapToLong(Counter::get).sum();
    }

    @Override
    public List<Latencies> latencies() {
        return List.of(latencies);
    }

    @Override
    public void requireRunning() throws IOException {
        Throwable e = failure;
        if (e != null) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        if (windows != null) {
            windows.close();
        }
    }
}
