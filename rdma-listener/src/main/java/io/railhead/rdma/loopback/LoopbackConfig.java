package io.railhead.rdma.loopback;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How the loopback fabric listens and works.
 *
 * @param socket the UNIX socket's path; its folder must exist
 * @param copyWorkers threads that copy what is over {@code inlineBytes}
 * @param workersPerPrincipal how many of them one principal may hold at a time
 * @param proofTimeout for HELLO to PROOF
 * @param maxUnproven connections that have not proved themselves
 * @param maxBuffers per session
 * @param maxBytesPerSession of registered buffers
 * @param maxBytesPerPrincipal of registered buffers, in all its sessions
 */
public record LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
        Duration proofTimeout, int maxUnproven, int maxBuffers, long maxBytesPerSession,
        long maxBytesPerPrincipal) {
    private static final long MAX_BYTES = 16L << 30;

    public static LoopbackConfig at(Path socket) {
        return new LoopbackConfig(socket,
                Math.max(2, Runtime.getRuntime().availableProcessors() / 2), 2, 64 << 10,
                Duration.ofSeconds(2), 16, 1024, MAX_BYTES, MAX_BYTES);
    }
}
