package io.railhead.rdma.loopback;

import io.railhead.protocol.message.SessionLimits;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The configuration of the loopback fabric.
 *
 * @param socket the UNIX socket's path; its folder must exist
 * @param copyWorkers threads that copy more than {@code inlineBytes}
 * @param workersPerPrincipal the most workers that one principal may have at a time
 * @param proofTimeout the time from HELLO to PROOF
 * @param maxUnproven the most connections that have not proved themselves
 * @param maxBuffers per session
 * @param maxBytesPerSession of registered buffers
 * @param maxBytesPerPrincipal of registered buffers, in all sessions of a principal
 * @param maxRequests outstanding per session
 * @param keepAlive the interval of a peer's messages; a silence of three intervals ends its session
 * @param crossMemory whether peers may register private memory, which the gateway then attaches to
 */
public record LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
        Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
        long maxBytesPerPrincipal, int maxRequests, Duration keepAlive, boolean crossMemory) {
    private static final long MAX_BYTES = 16L << 30;
    private static final int MAX_REQUESTS = 256;
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    /** A configuration without cross-memory attach. */
    public LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
            Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
            long maxBytesPerPrincipal, int maxRequests, Duration keepAlive) {
        this(socket, copyWorkers, workersPerPrincipal, inlineBytes, proofTimeout, maxUnproven,
                maxBuffers, maxBytesPerSession, maxBytesPerPrincipal, maxRequests, keepAlive,
                false);
    }

    /** A configuration with the default settings of the request channel. */
    public LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
            Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
            long maxBytesPerPrincipal) {
        this(socket, copyWorkers, workersPerPrincipal, inlineBytes, proofTimeout, maxUnproven,
                maxBuffers, maxBytesPerSession, maxBytesPerPrincipal, MAX_REQUESTS, KEEP_ALIVE);
    }

    public static LoopbackConfig at(Path socket) {
        return new LoopbackConfig(socket,
                Math.max(2, Runtime.getRuntime().availableProcessors() / 2), 2, 64 << 10,
                Duration.ofSeconds(2), 16, 1024, MAX_BYTES, MAX_BYTES);
    }

    /** Returns the same configuration with other settings of the request channel. */
    public LoopbackConfig with(int requests, Duration keptAlive) {
        return new LoopbackConfig(socket, copyWorkers, workersPerPrincipal, inlineBytes,
                proofTimeout, maxUnproven, maxBuffers, maxBytesPerSession, maxBytesPerPrincipal,
                requests, keptAlive, crossMemory);
    }

    /** Returns the same configuration with cross-memory attach. */
    public LoopbackConfig withCrossMemory() {
        return new LoopbackConfig(socket, copyWorkers, workersPerPrincipal, inlineBytes,
                proofTimeout, maxUnproven, maxBuffers, maxBytesPerSession, maxBytesPerPrincipal,
                maxRequests, keepAlive, true);
    }

    /** Returns the limits that WELCOME grants each session. */
    public SessionLimits limits() {
        return new SessionLimits(maxBuffers, maxRequests, (int) keepAlive.toMillis());
    }
}
