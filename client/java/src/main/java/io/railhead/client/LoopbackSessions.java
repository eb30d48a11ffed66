package io.railhead.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * Opens sessions as they are needed: a signed HTTP request, then the proof over the socket. At most
 * one is current; a broken one is replaced by the next caller. Any thread.
 */
final class LoopbackSessions implements AutoCloseable {
    private static final int WINDOW_BYTES = 16 << 20;
    private static final int LEAST_WINDOW_BYTES = 64 << 10;
    private static final int DOCUMENT_LIMIT = 64 << 10;

    private final S3Http http;
    private final Peers peers;
    private final int windows;
    private final Duration timeout;
    private @Nullable LoopbackSession current;
    private boolean closed;

    LoopbackSessions(S3Http http, Peers peers, int windows, Duration timeout) {
        this.http = http;
        this.peers = peers;
        this.windows = windows;
        this.timeout = timeout;
    }

    synchronized LoopbackSession current() throws IOException {
        if (closed) {
            throw new IOException("the client is closed");
        }
        LoopbackSession session = current;
        if (session == null || !session.isUsable()) {
            if (session != null) {
                session.end();
            }
            session = open();
            current = session;
        }
        return session;
    }

    LoopbackSession.Window lend() throws IOException {
        while (true) {
            LoopbackSession.Window window = current().lend();
            if (window != null) {
                return window;
            }
        }
    }

    private LoopbackSession open() throws IOException {
        Call call = new Call(SdkHttpMethod.POST, "/.railhead/sessions", Map.of(), Map.of(),
                Call.Body.EMPTY).query("fabric", "loopback");
        S3Http.Signed signed = http.sign(call);
        Map<String, String> granted;
        try (Answer answer = http.send(signed)) {
            if (answer.status() != 200) {
                throw refused(answer.refusal());
            }
            granted = FlatJson.parse(
                    new String(answer.readDocument(DOCUMENT_LIMIT), StandardCharsets.UTF_8));
        }
        SigningKey key = SigningKey.of(signed.credentials().secretAccessKey(), signed.request()
                .request()
                .firstMatchingHeader("Authorization")
                .orElseThrow());
        String id = require(granted, "session");
        Peers.Peer peer = peers.connect(Path.of(require(granted, "socket")), id,
                key.sessionKey(id), timeout);
        return LoopbackSession.over(peer, windowBytes(require(granted, "max_window")), windows);
    }

    private static S3Exception refused(S3Exception refusal) {
        S3Exception named = new S3Exception(refusal.status(), refusal.code(),
                "the endpoint opens no loopback session (" + refusal.getMessage() + ")");
        named.initCause(refusal);
        return named;
    }

    private static String require(Map<String, String> granted, String field) throws IOException {
        String value = granted.get(field);
        if (value == null) {
            throw new PermanentException("the gateway's session has no " + field);
        }
        return value;
    }

    private static int windowBytes(String maxWindow) throws IOException {
        long most;
        try {
            most = Long.parseLong(maxWindow);
        } catch (NumberFormatException e) {
            throw new IOException("the gateway's max_window is not a number: " + maxWindow, e);
        }
        if (most < LEAST_WINDOW_BYTES) {
            throw new PermanentException("the gateway's max_window is too small: " + most);
        }
        return (int) Math.min(WINDOW_BYTES, most);
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (current != null) {
            current.end();
        }
    }
}
