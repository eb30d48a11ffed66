package io.railhead.cli.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.local.Json;
import io.railhead.client.channel.ClientChannel;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.SessionKey;
import io.railhead.protocol.token.Token;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * A loopback session and registered memory with a window for each request under way, each as large
 * as the object. Above a limit windows are shared: they would all get the same bytes.
 */
final class SharedWindows implements AutoCloseable {
    private static final long MOST_BYTES = 512 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long POISON = 0x5a5a_5a5a_5a5a_5a5aL;

    private final LoopbackClient peer;
    private final Mapping mapping;
    private final int key;
    private final MeasuredRun measuredRun;
    private final int windows;

    private SharedWindows(MeasuredRun measuredRun, LoopbackClient ownedPeer) throws IOException {
        this.measuredRun = measuredRun;
        peer = ownedPeer;
        windows = count(measuredRun.objectBytes(), measuredRun.connections());
        try (MemoryFile file = MemoryFile.create("bench", windows * measuredRun.objectBytes())) {
            mapping = file.map();
            mapping.populate();
            key = peer.register(file, mapping.segment().address());
        }
        for (int window = 0; window < windows; window++) {
            mapping.segment().set(JAVA_LONG_UNALIGNED, offset(window), POISON);
            mapping.segment().set(JAVA_LONG_UNALIGNED, lastLong(window), POISON);
        }
    }

    static int count(long objectBytes, int connections) {
        return Math.clamp(MOST_BYTES / objectBytes, 1, connections);
    }

    static SharedWindows open(MeasuredRun measuredRun) throws IOException {
        SigV4 signer = SigV4.at(Instant.now(), measuredRun.accessKey(), measuredRun.secretKey(),
                RawHttp.host(measuredRun.port()));
        SigV4.Signed open = signer.sign("POST", "/.railhead/sessions", "fabric=loopback",
                Map.of("content-length", "0"));
        JsonNode grant = grant(measuredRun.port(), open);
        String session = grant.required("session").textValue();
        LoopbackClient peer = LoopbackClient.connect(Path.of(grant.required("socket").textValue()),
                session, SessionKey.derive(signer.signingKey().reveal(), open.signature(), session),
                PATIENCE);
        try {
            return new SharedWindows(measuredRun, peer);
        } catch (IOException | RuntimeException | Error e) {
            peer.close();
            throw e;
        }
    }

    private static JsonNode grant(int port, SigV4.Signed open) throws IOException {
        RawHttp.Answer answer = RawHttp.exchange(port, open.head(), new byte[0]);
        if (answer.status() != 200) {
            throw new IOException("no session was opened: " + answer);
        }
        return Json.read(answer.body(), JsonNode.class);
    }

    ClientChannel channel() {
        return peer.channel();
    }

    private long offset(int request) {
        return request % windows * measuredRun.objectBytes();
    }

    private long lastLong(int request) {
        return offset(request) + measuredRun.objectBytes() - Long.BYTES;
    }

    /** Puts the object's own bytes into each, for a server that will read them. */
    void fill() {
        for (int window = 0; window < windows; window++) {
            for (long at = 0; at < measuredRun.objectBytes(); at += Long.BYTES) {
                mapping.segment()
                        .set(JAVA_LONG_UNALIGNED, offset(window) + at,
                                BenchObject.longAt(at));
            }
        }
    }

    /** The 81 characters that name a request's window. */
    String token(int request) {
        return Token
                .loopback(mapping.segment().address() + offset(request), measuredRun.objectBytes(),
                        key, peer.sessionNumber())
                .format();
    }

    /** A GET into a request's window, over the channel. */
    Request get(int request) {
        return Request.get(request + 1, measuredRun.bucket(), measuredRun.key(), key,
                offset(request),
                measuredRun.objectBytes());
    }

    /** Throws if a request that was answered has not delivered its bytes. */
    void requireDelivered(int request) throws IOException {
        long first = mapping.segment().get(JAVA_LONG_UNALIGNED, offset(request));
        long last = mapping.segment().get(JAVA_LONG_UNALIGNED, lastLong(request));
        if (first != BenchObject.longAt(0)
                || last != BenchObject.longAt(measuredRun.objectBytes() - Long.BYTES)) {
            throw new IOException("what was said to be delivered is not there");
        }
    }

    @Override
    public void close() {
        peer.close();
        mapping.close();
    }
}
