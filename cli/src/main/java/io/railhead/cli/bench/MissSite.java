package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.client.AdminClient;
import io.railhead.client.ClientConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * A store behind a link, and a gateway that reaches it by the same link as who asks it directly.
 * One thread.
 */
final class MissSite implements AutoCloseable {
    static final String BUCKET = "bench";
    static final String WRITTEN = "written";
    private static final Pattern UPLOAD = Pattern.compile("<UploadId>([^<]+)</UploadId>");
    private static final Pattern ETAG = Pattern.compile("(?im)^etag: *(.*?) *\r?$");
    private static final long MIB = 1 << 20;
    private static final long POLL_NANOS = 5_000_000;
    private static final long START_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final MissesPlan plan;
    private final Children children;
    private final LocalStore store;
    private final BenchLink link;
    private final Server gateway;
    private final AdminClient admin;

    private MissSite(MissesPlan plan, Cores cores, @Nullable Path recording,
            Children children) throws IOException {
        this.plan = plan;
        this.children = children;
        LocalStore.Keys keys = new LocalStore.Keys("BENCHACCESSKEY", "bench-secret-key");
        // What is read, and twice what is written: the old is garbage for a while.
        long stored = plan.objects().stream().mapToLong(Long::longValue).sum() + 2 * plan.bytes();
        store = LocalStore.start(Installation.here().store(), keys, stored,
                children);
        require(200, ask(storePort(), "PUT", "/" + BUCKET, ""));
        link = BenchLink.start(storePort(), plan, children);
        Files.writeString(children.folder().resolve("credentials.yaml"), """
                principals:
                  - name: bench
                    keys:
                      - access_key: %s
                        secret_key: %s
                    rdma_put: true
                    admin: true
                """.formatted(keys.accessKey(), keys.secretKey()));
        int adminPort = Loopback.freePort();
        BenchGateway started = BenchGateway.onFreePorts("gateway");
        gateway = started.start(config(started, adminPort, 256 * MIB + 3 * plan.bytes()), cores,
                recording, children);
        admin = AdminClient.connect(ClientConfig.of(
                URI.create("http://" + RawHttp.host(adminPort)), SigV4.REGION,
                StaticCredentialsProvider.create(AwsBasicCredentials.create(keys.accessKey(),
                        keys.secretKey()))));
    }

    static MissSite start(MissesPlan plan, Cores cores, @Nullable Path recording,
            Children children) throws IOException {
        return new MissSite(plan, cores, recording, children);
    }

    private String config(BenchGateway started, int adminPort, long cacheBytes) {
        return """
                gateway:
                  listen: "127.0.0.1:%d"
                  health: "127.0.0.1:%d"
                  credentials: credentials.yaml
                cache:
                  memory: %dMiB
                backends:
                  store:
                    endpoints: ["http://127.0.0.1:%d"]
                rules:
                  - bucket: %s
                    freshness: immutable
                    authorization: {remember: 1h}
                rdma:
                  loopback: {enabled: true, socket: "%s"}
                  fence_timeout: 5m
                admin: {listen: "127.0.0.1:%d"}
                """.formatted(started.port(), started.health(), cacheBytes / MIB, link.port(),
                BUCKET, children.folder().resolve(started.name() + ".sock"), adminPort);
    }

    private int storePort() {
        return store.endpoint().getPort();
    }

    /** The same turn of each contender. */
    MeasuredRun turn(MeasuredSystem measuredSystem, MissCase what, String upload) {
        OneShotRequest oneShotRequest = what.errand(plan.bytes(), upload);
        return measuredSystem == MeasuredSystem.DIRECT
                ? turn(measuredSystem, link.port(), List.of(), what.connections(plan.readers()),
                        oneShotRequest)
                : turn(measuredSystem, gateway.port(), gateway.pids(),
                        what.connections(plan.readers()), oneShotRequest);
    }

    /** Puts an object to be read into the store, not through the link. */
    MeasuredRun publishing(long bytes) {
        return turn(MeasuredSystem.DIRECT, storePort(), List.of(), 1,
                new OneShotRequest(OneShotRequest.Kind.PUT, BenchObject.key(bytes), "", bytes,
                        bytes));
    }

    private MeasuredRun turn(MeasuredSystem measuredSystem, int port, List<Long> pids,
            int connections,
            OneShotRequest oneShotRequest) {
        return new MeasuredRun(measuredSystem.way, port, BUCKET, oneShotRequest.pieceBytes(),
                connections, 0, 0, pids,
                List.of(store.process().pid(), link.pid()), store.keys().accessKey(),
                store.keys().secretKey(), oneShotRequest);
    }

    ThrottledProxy.Passed passed() throws IOException {
        return link.passed();
    }

    /** Nothing is held afterwards. */
    void forget() throws IOException {
        admin.call("evict", Json.line(Map.of("bucket", BUCKET, "prefix", "")), _ -> {});
    }

    /** The store's word for the bytes that it has. */
    String etag() throws IOException {
        RawHttp.Answer answer = ask(storePort(), "HEAD", "/" + BUCKET + "/" + WRITTEN, "");
        require(200, answer);
        Matcher etag = ETAG.matcher(answer.head());
        if (!etag.find()) {
            throw new IOException("the store names no ETag: " + answer);
        }
        return etag.group(1);
    }

    String beginUpload() throws IOException {
        RawHttp.Answer answer = ask(storePort(), "POST", "/" + BUCKET + "/" + WRITTEN,
                "uploads=");
        Matcher id = UPLOAD.matcher(answer.body());
        if (answer.status() != 200 || !id.find()) {
            throw new IOException("the store began no upload: " + answer);
        }
        return id.group(1);
    }

    void abortUpload(String id) throws IOException {
        require(204, ask(storePort(), "DELETE", "/" + BUCKET + "/" + WRITTEN, "uploadId=" + id));
    }

    /**
     * Seconds from exec until a gateway with a cache of that size answers with an object. It has
     * all cores: nobody else has anything to do.
     */
    double startSeconds(long cacheBytes) throws IOException {
        BenchGateway fresh = BenchGateway.onFreePorts("started");
        String path = "/" + BUCKET + "/" + BenchObject.key(plan.objects().getLast());
        long began = System.nanoTime();
        Process process = fresh.exec(config(fresh, Loopback.freePort(), cacheBytes),
                Cores.free(), null,
                children);
        try {
            while (!answers(fresh.port(), path)) {
                if (!process.isAlive() || System.nanoTime() - began > START_NANOS) {
                    throw new IOException("it did not start: " + children.lastWords("started"));
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
            return (System.nanoTime() - began) / 1e9;
        } finally {
            Children.end(process);
        }
    }

    private boolean answers(int port, String path) {
        try {
            return ask(port, "HEAD", path, "").status() == 200;
        } catch (IOException _) {
            return false;
        }
    }

    private RawHttp.Answer ask(int port, String method, String path, String query)
            throws IOException {
        SigV4 signer = SigV4.at(Instant.now(), store.keys().accessKey(), store.keys().secretKey(),
                RawHttp.host(port));
        return RawHttp.exchange(port,
                signer.sign(method, path, query, Map.of("content-length", "0")).head(),
                new byte[0]);
    }

    private static void require(int status, RawHttp.Answer answer) throws IOException {
        if (answer.status() != status) {
            throw new IOException("the store refused: " + answer);
        }
    }

    @Override
    public void close() {
        admin.close();
    }
}
