package io.railhead.benchmarks.channel;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.http.SdkHttpMethod;

/** A peer of the gateway with a window for each request that it keeps under way. One thread. */
final class ChannelClient implements AutoCloseable {
    private static final Pattern SESSION = Pattern.compile("\"session\" *: *\"([0-9a-f]+)\"");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final LoopbackClient peer;
    private final Mapping mapping;
    private final List<List<Request>> batches = new ArrayList<>();
    private final Request single;

    ChannelClient(HitSite site, int objectBytes, int batchCount, int batchRequests)
            throws IOException {
        SignedRequest open = SignedRequest.of(SdkHttpMethod.POST,
                site.uri("/.railhead/sessions?fabric=loopback"));
        String session = session(site, open);
        peer = LoopbackClient.connect(Path.of(site.folder().resolve("loopback.sock").toString()),
                session, open.sessionKey(session), PATIENCE);
        int requests = batchCount * batchRequests + 1;
        int key;
        try (MemoryFile file = MemoryFile.create("benchmark", (long) requests * objectBytes)) {
            mapping = file.map();
            mapping.populate();
            key = peer.register(file, mapping.segment().address());
        }
        int id = 1;
        single = request(id++, key, objectBytes);
        for (int batch = 0; batch < batchCount; batch++) {
            List<Request> members = new ArrayList<>();
            for (int i = 0; i < batchRequests; i++) {
                members.add(request(id++, key, objectBytes));
            }
            batches.add(List.copyOf(members));
        }
    }

    private static String session(HitSite site, SignedRequest open) throws IOException {
        try (HttpConnection connection = new HttpConnection(site.uri("/"))) {
            Matcher matcher = SESSION.matcher(connection.exchange(open.bytes()));
            if (!matcher.find()) {
                throw new IOException("no session was opened");
            }
            return matcher.group(1);
        }
    }

    private static Request request(int id, int key, int objectBytes) {
        String[] path = OneObjectStore.PATH.substring(1).split("/", 2);
        return Request.get(id, path[0], path[1], key, (long) (id - 1) * objectBytes, objectBytes);
    }

    /** Sends one request and waits for it. */
    Answer call() throws IOException {
        return peer.channel().call(single);
    }

    /** Keeps all batches under way until the deadline; returns the number of answered requests. */
    long pipeline(long deadlineNanos) {
        Deque<List<CompletionStage<Answer>>> underWay = new ArrayDeque<>();
        int next = 0;
        long answered = 0;
        while (System.nanoTime() - deadlineNanos < 0) {
            if (underWay.size() == batches.size()) {
                answered += settle(underWay.remove());
            }
            underWay.add(peer.channel().send(batches.get(next)));
            next = (next + 1) % batches.size();
        }
        while (!underWay.isEmpty()) {
            answered += settle(underWay.remove());
        }
        return answered;
    }

    private static long settle(List<CompletionStage<Answer>> batch) {
        for (int i = batch.size() - 1; i >= 0; i--) {
            requireHit(batch.get(i).toCompletableFuture().join());
        }
        return batch.size();
    }

    static void requireHit(Answer answer) {
        if (answer.status() != 200 || answer.cache() != AnswerOrigin.HIT) {
            throw new IllegalStateException("not a hit: " + answer);
        }
    }

    @Override
    public void close() {
        peer.close();
        mapping.close();
    }
}
