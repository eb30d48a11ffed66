package io.railhead.rdma.loopback;

import io.railhead.protocol.message.SessionLimits;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The configuration of the loopback fabric.
 *
 * @param socket the UNIX socket's path; its folder must exist
 * @param copyWorkers threads that copy what is over {@code inlineBytes}
 * @param workersPerPrincipal how many of them one principal may hold at a time
 * @param proofTimeout for HELLO to PROOF
 * @param maxUnproven connections that have not proved themselves
 * @param maxBuffers per session
 * @param maxBytesPerSession of registered buffers
 * @param maxBytesPerPrincipal of registered buffers, in all its sessions
 * @param maxRequests outstanding per session
 * @param keepAlive within which a peer says something; silence of three times that ends its session
 * @param crossMemory whether a peer may have its own, unshared memory attached to
 */
public record LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
        Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
        long maxBytesPerPrincipal, int maxRequests, Duration keepAlive, boolean crossMemory) {
    private static final long MAX_BYTES = 16L << 30;
    private static final int MAX_REQUESTS = 256;
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    /** Without cross-memory attach. */
    public LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
            Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
            long maxBytesPerPrincipal, int maxRequests, Duration keepAlive) {
        this(socket, copyWorkers, workersPerPrincipal, inlineBytes, proofTimeout, maxUnproven,
                maxBuffers, maxBytesPerSession, maxBytesPerPrincipal, maxRequests, keepAlive,
                false);
    }

    /** With the defaults of the request channel. */
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

    /** The same with other settings of the request channel. */
    public LoopbackConfig with(int requests, Duration keptAlive) {
        return new LoopbackConfig(socket, copyWorkers, workersPerPrincipal, inlineBytes,
                proofTimeout, maxUnproven, maxBuffers, maxBytesPerSession, maxBytesPerPrincipal,
                requests, keptAlive, crossMemory);
    }

    /** The same, and peers may have their own memory attached to. */
    public LoopbackConfig withCrossMemory() {
        return new LoopbackConfig(socket, copyWorkers, workersPerPrincipal, inlineBytes,
                proofTimeout, maxUnproven, maxBuffers, maxBytesPerSession, maxBytesPerPrincipal,
                maxRequests, keepAlive, true);
    }

    /** What WELCOME grants each session. */
    public SessionLimits limits() {
        return new SessionLimits(maxBuffers, maxRequests, (int) keepAlive.toMillis());
    }
}
