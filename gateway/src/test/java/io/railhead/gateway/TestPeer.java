package io.railhead.gateway;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.SessionKey;
import io.railhead.protocol.token.Token;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** A process's side of a loopback session: one registered buffer, and tokens for parts of it. */
public final class TestPeer implements AutoCloseable {
    private final MemoryFile file;
    private final Mapping mapping;
    private final LoopbackClient peer;
    private final int key;
    private final String sessionId;
    private boolean isClosed;

    public TestPeer(TestClient client, String secretKey, long bytes) {
        HttpRequest open = client.signed("POST", "/.railhead/sessions?fabric=loopback",
                new byte[0]);
        HttpResponse<byte[]> answer = client.send(open);
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(new String(answer.body(), StandardCharsets.UTF_8));
        }
        JsonObject session = new JsonObject(new String(answer.body(), StandardCharsets.UTF_8));
        sessionId = session.getString("session");
        String authorization = open.headers().firstValue("Authorization").orElseThrow();
        byte[] sessionKey = SessionKey.ofOpen(secretKey, authorization,
                session.getString("session"));
        file = MemoryFile.create("test-peer", bytes);
        mapping = file.map();
        try {
            peer = LoopbackClient.connect(Path.of(session.getString("socket")),
                    session.getString("session"), sessionKey,
                    Duration.ofSeconds(10));
            key = peer.register(file, mapping.segment().address());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Token token(long offset, long length) {
        return Token.loopback(mapping.segment().address() + offset, length, key,
                peer.sessionNumber());
    }

    /** Headers of a request that offers part of the buffer, different each time. */
    public String[] headers(long offset, long length, String... more) {
        return headers(token(offset, length), more);
    }

    public static String[] headers(Token token, String... more) {
        String[] headers = new String[more.length + 4];
        headers[0] = "x-amz-rdma-token";
        headers[1] = token.format();
        headers[2] = "x-railhead-request-id";
        headers[3] = UUID.randomUUID().toString();
        System.arraycopy(more, 0, headers, 4, more.length);
        return headers;
    }

    public String sessionId() {
        return sessionId;
    }

    public int key() {
        return key;
    }

    /** Asks over the session's channel, under an id of its own, and waits. */
    public Answer ask(Request request) {
        try {
            return peer.channel().call(request.withId(peer.channel().freshId()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks over the session's channel; a request without an id gets one of its own. */
    public CompletableFuture<Answer> send(Request request) {
        Request sent = request.id() == 0 ? request.withId(peer.channel().freshId()) : request;
        return peer.channel().send(sent).toCompletableFuture();
    }

    /** All in as few messages as hold them. */
    public List<Answer> askAll(List<Request> requests) {
        return peer.channel()
                .send(requests.stream()
                        .map(request -> request.withId(peer.channel().freshId()))
                        .toList())
                .stream()
                .map(stage -> stage.toCompletableFuture().join())
                .toList();
    }

    public void cancel(int id) {
        peer.channel().cancel(id);
    }

    /** Ends the session and keeps the memory, to see what becomes of it. */
    public void leave() {
        peer.close();
    }

    public byte[] bytes(long offset, int length) {
        return mapping.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    public void set(long offset, byte[] bytes) {
        MemorySegment.copy(bytes, 0, mapping.segment(), ValueLayout.JAVA_BYTE, offset,
                bytes.length);
    }

    public void fill(int value) {
        mapping.segment().fill((byte) value);
    }

    public boolean isAll(int value) {
        for (long i = 0; i < mapping.segment().byteSize(); i++) {
            if (mapping.segment().get(ValueLayout.JAVA_BYTE, i) != (byte) value) {
                return false;
            }
        }
        return true;
    }

    /** A test may close it before its gateway does. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            peer.close();
            mapping.close();
            file.close();
        }
    }
}
