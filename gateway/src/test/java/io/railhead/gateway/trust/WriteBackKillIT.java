package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.GatewayProcess;
import io.railhead.gateway.RandomBytes;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.os.RequiresDirectFiles;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway that acknowledges uploads at its disk, and is killed by SIGKILL while they come, again
 * and again, before a store that fails now and then. Everything that was acknowledged reaches the
 * store, whole and in its order. {@code -Drailhead.kills=} says how often.
 */
@RequiresDirectFiles
class WriteBackKillIT {
    private static final int KILLS = Integer.getInteger("railhead.kills", 3);
    private static final long SEED = Long.getLong("railhead.seed", 1);
    private static final int WRITERS = 4;
    private static final int LONGEST_LIFE = 80;
    private static final int MOST_BYTES = 700_000;
    private static final int FAILURES_PERCENT = 2;
    /** Each so-many-th object comes in two parts. */
    private static final int MULTIPART = 6;
    private static final int PART_BYTES = 5 << 20;

    @TempDir
    private Path folder;

    private final FakeStore store = new FakeStore();
    /** Paths of uploads that the store has taken, in order. */
    private final List<String> arrived = Collections.synchronizedList(new ArrayList<>());
    private final List<Writer> writers = new ArrayList<>();

    /** One client, whose uploads follow each other. */
    private static final class Writer {
        private final int number;
        private final List<Integer> acknowledged = new ArrayList<>();
        private int next;
        /** A multipart upload that a kill may have interrupted. */
        private @Nullable OpenUpload open;

        Writer(int number) {
            this.number = number;
        }

        String path(int upload) {
            return "/ckpt/w" + number + "-" + upload;
        }

        String latest() {
            return "/ckpt/latest-" + number;
        }
    }

    /** An upload as its client knows it: the answered parts are never sent again. */
    private static final class OpenUpload {
        private final String path;
        private final String id;
        private final List<String> etags = new ArrayList<>();
        private boolean mayBeComplete;

        OpenUpload(String path, String id) {
            this.path = path;
            this.id = id;
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static byte[] bytes(String path) {
        int length = new Random(path.hashCode()).nextInt(MOST_BYTES);
        return RandomBytes.random(path.hashCode(),
                isMultipart(path) ? PART_BYTES + length : length);
    }

    private static int number(String path) {
        return Integer.parseInt(path.substring(path.indexOf('-') + 1));
    }

    private static boolean isMultipart(String path) {
        return number(path) % MULTIPART == MULTIPART - 1;
    }

    private Path config() throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: trainer
                    keys: [{access_key: AK, secret_key: SK}]
                    backend_credential: {access_key: STORE, secret_key: store-secret}
                """);
        Files.writeString(folder.resolve("policy.json"), """
                {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
                  "Principal": "trainer", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
                """);
        return Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", sole: true,
                  credentials: credentials.yaml, policy: policy.json}
                cache: {memory: 64MiB}
                write_back: {path: "%s", size: 256MiB}
                rules: [{bucket: ckpt, acknowledge: disk, copies: 1}]
                backends: {store: {endpoints: ["%s"]}}
                """.formatted(folder.resolve("log"), store.endpoint()));
    }

    @Test
    void everythingAcknowledgedReachesTheStoreWholeAndInOrder() throws Exception {
        Path config = config();
        Random random = new Random(SEED);
        Random ofStore = new Random(SEED + 1);
        System.out.println(KILLS + " kills, seed " + SEED);
        store.put("/ckpt", "<VersioningConfiguration/>".getBytes(StandardCharsets.UTF_8));
        store.fault((exchange, _) -> isRefused(exchange, ofStore));
        for (int i = 0; i < WRITERS; i++) {
            writers.add(new Writer(i));
        }
        for (int kill = 0; kill < KILLS; kill++) {
            try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
                writeUntilKilled(gateway, 10 + random.nextInt(LONGEST_LIFE));
            }
        }
        try (GatewayProcess gateway = GatewayProcess.start(config, "-Xmx512m")) {
            TestGateway.await(() -> gateway.metric("railhead_write_back_pending") == 0);
        }
        int all = 0;
        for (Writer writer : writers) {
            requireArrived(writer);
            all += writer.acknowledged.size();
        }
        assertThat(store.uploads().open()).as("uploads left at the store")
                .isLessThanOrEqualTo(KILLS);
        System.out.println(all + " acknowledged uploads, " + arrived.size() + " arrivals");
        assertThat(all).isGreaterThanOrEqualTo(10 * KILLS);
    }

    private boolean isRefused(HttpExchange exchange, Random ofStore) {
        String method = exchange.getRequestMethod();
        if (!method.equals("PUT") && !method.equals("POST")) {
            return false;
        }
        synchronized (ofStore) {
            if (ofStore.nextInt(100) < FAILURES_PERCENT) {
                FakeStore.answerQuietly(exchange, 503);
                return true;
            }
        }
        if (method.equals("PUT")) {
            arrived.add(exchange.getRequestURI().getRawPath());
        }
        return false;
    }

    private void writeUntilKilled(GatewayProcess gateway, int answers) throws Exception {
        AtomicInteger left = new AtomicInteger(answers);
        AtomicBoolean killed = new AtomicBoolean();
        List<Throwable> wrong = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (Writer writer : writers) {
            TestClient client = new TestClient(gateway.endpoint(), "AK", "SK");
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    while (!killed.get()) {
                        write(client, writer);
                        if (left.decrementAndGet() == 0) {
                            killed.set(true);
                            gateway.kill();
                        }
                    }
                } catch (RuntimeException | Error | InterruptedException e) {
                    // A cut connection is the kill's doing; a wrong answer is nobody's.
                    if (e instanceof AssertionError || !killed.get()) {
                        wrong.add(e);
                        killed.set(true);
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).isEmpty();
    }

    /** Writes an object of its own, and then one that names it, as a checkpoint does. */
    private static void write(TestClient client, Writer writer) {
        OpenUpload open = writer.open;
        int upload = open == null ? writer.next++ : number(open.path);
        String path = writer.path(upload);
        if (isMultipart(path)) {
            writeInParts(client, writer, path);
        } else {
            requireAtDisk(client.put(path, bytes(path)));
        }
        writer.acknowledged.add(upload);
        requireAtDisk(client.put(writer.latest(), path.getBytes(StandardCharsets.UTF_8)));
        assertThat(client.get(path).body()).as(path).isEqualTo(bytes(path));
    }

    private static void writeInParts(TestClient client, Writer writer, String path) {
        OpenUpload upload = writer.open;
        if (upload == null) {
            HttpResponse<byte[]> begun = client.send("POST", path + "?uploads", new byte[0]);
            String xml = new String(begun.body(), StandardCharsets.UTF_8);
            assertThat(xml).contains("<UploadId>railhead-disk-");
            upload = new OpenUpload(path, xml.substring(xml.indexOf("<UploadId>") + 10,
                    xml.indexOf("</UploadId>")));
            writer.open = upload;
        }
        byte[] bytes = bytes(path);
        while (upload.etags.size() < 2) {
            int from = upload.etags.size() * PART_BYTES;
            HttpResponse<byte[]> part = client.put(
                    path + "?partNumber=" + (upload.etags.size() + 1) + "&uploadId=" + upload.id,
                    Arrays.copyOfRange(bytes, from,
                            from == 0 ? PART_BYTES : bytes.length));
            requireAtDisk(part);
            upload.etags.add(part.headers().firstValue("etag").orElseThrow());
        }
        complete(client, upload);
        writer.open = null;
    }

    private static void complete(TestClient client, OpenUpload upload) {
        String list = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                + upload.etags.getFirst()
                + "</ETag></Part><Part><PartNumber>2</PartNumber><ETag>" + upload.etags.getLast()
                + "</ETag></Part></CompleteMultipartUpload>";
        boolean mayBeComplete = upload.mayBeComplete;
        upload.mayBeComplete = true;
        HttpResponse<byte[]> completed = client.send("POST",
                upload.path + "?uploadId=" + upload.id,
                list.getBytes(StandardCharsets.UTF_8));
        if (mayBeComplete && completed.statusCode() == 404) {
            // The answer was lost by a kill, and the store has the object since.
            assertThat(client.head(upload.path).statusCode()).isEqualTo(200);
        } else {
            requireAtDisk(completed);
        }
    }

    private static void requireAtDisk(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).as(new String(answer.body(), StandardCharsets.UTF_8))
                .isEqualTo(200);
        assertThat(answer.headers().firstValue("x-railhead-acknowledged")).hasValue("disk");
    }

    private void requireArrived(Writer writer) {
        for (int upload : writer.acknowledged) {
            String path = writer.path(upload);
            assertThat(store.object(path)).as(path).isEqualTo(bytes(path));
        }
        List<Integer> order = arrived.stream()
                .filter(path -> path.startsWith("/ckpt/w" + writer.number + "-"))
                .map(path -> Integer.valueOf(path.substring(path.indexOf('-') + 1)))
                .distinct()
                .toList();
        assertThat(order).as("arrivals of writer %s", writer.number).isSorted();
        // The object that names another was acknowledged after it.
        byte[] latest = store.object(writer.latest());
        assertThat(latest).isNotNull();
        String named = new String(latest, StandardCharsets.UTF_8);
        assertThat(store.object(named)).as(named).isEqualTo(bytes(named));
        int last = writer.acknowledged.getLast();
        assertThat(Integer.parseInt(named.substring(named.indexOf('-') + 1)))
                .as("the newest of writer %s", writer.number)
                .isGreaterThanOrEqualTo(last - 1);
    }
}
