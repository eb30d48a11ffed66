package io.railhead.benchmarks.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsClientConfig;
import io.railhead.os.Mapping;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestRange;
import io.railhead.protocol.message.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import software.amazon.awssdk.http.SdkHttpMethod;

/** A peer on an RDMA adapter with windows as large as the object. One thread. */
final class VerbsBenchClient implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int ATTEMPTS = 5;
    private static final int WINDOWS = 16;
    private static final int OBJECT_BYTES = VerbsGateway.OBJECT_BYTES;
    private static final byte POISON = 0x5a;

    private final VerbsClient peer;
    private final Mapping windows;
    private final int key;

    private VerbsBenchClient(VerbsClient peer) throws IOException {
        this.peer = peer;
        windows = Mapping.anonymous((long) WINDOWS * OBJECT_BYTES);
        key = peer.register(windows.segment());
        Answer first = peer.channel().call(request(0, OBJECT_BYTES));
        if (!first.isSuccess()) {
            throw new IOException("not served: " + first);
        }
    }

    /** Connects. A first try may fail in emulation, where loading the classes takes seconds. */
    static VerbsBenchClient connect(URI gateway, InetAddress source) throws IOException {
        for (int attempt = 1;; attempt++) {
            try {
                return new VerbsBenchClient(open(gateway, source));
            } catch (RefusedException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static VerbsClient open(URI gateway, InetAddress source) throws IOException {
        SignedRequest open = SignedRequest.of(SdkHttpMethod.POST,
                gateway.resolve("/.railhead/sessions?fabric=verbs"));
        JsonObject grant = grant(gateway, open);
        String session = grant.getString("session");
        return VerbsClient.connect(
                VerbsClientConfig.of(grant.getInteger("max_requests"), PATIENCE).from(source),
                new InetSocketAddress(grant.getJsonArray("addresses").getString(0),
                        grant.getInteger("port")),
                session, open.sessionKey(session));
    }

    private static JsonObject grant(URI gateway, SignedRequest open) throws IOException {
        try (HttpConnection connection = new HttpConnection(gateway)) {
            String answer = connection.exchange(open.bytes());
            if (!answer.startsWith("http/1.1 200 ")) {
                throw new IOException("no session was opened: " + answer);
            }
            return new JsonObject(answer.substring(answer.indexOf("\r\n\r\n")));
        }
    }

    private Request request(int window, int bytes) {
        String[] path = OneObjectStore.PATH.substring(1).split("/", 2);
        Request whole = Request.get(window, path[0], path[1], key, (long) window * OBJECT_BYTES,
                bytes);
        return bytes == OBJECT_BYTES
                ? whole
                : whole.withRange(new RequestRange.Between(0, bytes - 1L));
    }

    /** Returns the nanoseconds from the first request to the last answer. */
    long pipeline(int bytes, int depth, int count) {
        List<Request> requests = new ArrayList<>();
        for (int window = 0; window < depth; window++) {
            requests.add(request(window, bytes));
            poison(window, bytes);
        }
        Deque<CompletionStage<Answer>> underWay = new ArrayDeque<>();
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            if (underWay.size() == depth) {
                requireHit(underWay.remove().toCompletableFuture().join());
            }
            underWay.add(peer.channel().send(requests.get(i % depth)));
        }
        underWay.forEach(answer -> requireHit(answer.toCompletableFuture().join()));
        long nanos = System.nanoTime() - began;
        for (int window = 0; window < Math.min(depth, count); window++) {
            requireDelivered(window, bytes);
        }
        return nanos;
    }

    /** Measures latencies, each from the request to its answer. */
    Figures oneByOne(int bytes, int count) throws IOException {
        Request request = request(0, bytes);
        poison(0, bytes);
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            requireHit(peer.channel().call(request));
            nanos[i] = System.nanoTime() - began;
        }
        requireDelivered(0, bytes);
        Figures figures = new Figures("hits");
        figures.latencies(nanos, count);
        return figures;
    }

    private static void requireHit(Answer answer) {
        if (!answer.isSuccess() || answer.cache() != AnswerOrigin.HIT) {
            throw new IllegalStateException("not a hit: " + answer);
        }
    }

    private void poison(int window, int bytes) {
        long at = (long) window * OBJECT_BYTES;
        windows.segment().set(JAVA_BYTE, at, POISON);
        windows.segment().set(JAVA_BYTE, at + bytes - 1, POISON);
    }

    /** Checks the delivered object, which is zeros. */
    private void requireDelivered(int window, int bytes) {
        long at = (long) window * OBJECT_BYTES;
        if (windows.segment().get(JAVA_BYTE, at) != 0
                || windows.segment().get(JAVA_BYTE, at + bytes - 1) != 0) {
            throw new IllegalStateException("an answer came before its bytes");
        }
    }

    @Override
    public void close() {
        peer.close();
        windows.close();
    }
}
