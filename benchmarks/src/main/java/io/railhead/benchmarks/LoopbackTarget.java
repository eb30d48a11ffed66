package io.railhead.benchmarks;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.loopback.LoopbackConfig;
import io.railhead.rdma.loopback.LoopbackFabric;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** A loopback fabric and, in this same process, a peer with a buffer to write to. */
public final class LoopbackTarget implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String PRINCIPAL = "trainer";
    private static final byte[] SESSION_KEY = new byte[32];

    private final Path folder;
    private final ClientSessions clientSessions = new ClientSessions(PATIENCE, 4, 4);
    private final LoopbackFabric fabric;
    private final LoopbackClient peer;
    private final Mapping mapping;
    private final int key;

    public LoopbackTarget(long bytes) throws IOException {
        folder = Files.createTempDirectory("railhead-bench");
        LoopbackConfig config = LoopbackConfig.at(folder.resolve("loopback.sock"));
        fabric = new LoopbackFabric(config, clientSessions, RequestHandler.NONE);
        ClientSession clientSession = Objects
                .requireNonNull(clientSessions.open(PRINCIPAL, "loopback", id -> SESSION_KEY));
        peer = LoopbackClient.connect(config.socket(), clientSession.id(), SESSION_KEY, PATIENCE);
        try (MemoryFile file = MemoryFile.create("benchmark", bytes)) {
            mapping = file.map();
            mapping.populate();
            key = peer.register(file, mapping.segment().address());
        }
    }

    /** A request's transfer into the buffer's first {@code bytes}, its token checked. */
    public Transfer begin(long bytes) {
        return fabric.begin(clientSessions.resolve(PRINCIPAL, peer.sessionNumber(),
                mapping.segment().address(), bytes, key));
    }

    @Override
    public void close() throws IOException {
        peer.close();
        fabric.close();
        mapping.close();
        Files.delete(folder);
    }
}
