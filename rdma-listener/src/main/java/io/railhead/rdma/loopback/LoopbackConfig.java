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
 */
public record LoopbackConfig(Path socket, int copyWorkers, int workersPerPrincipal, int inlineBytes,
        Duration proofTimeout, int maxUnproven, int maxBuffers) {

    public static LoopbackConfig at(Path socket) {
        return new LoopbackConfig(socket,
                Math.max(2, Runtime.getRuntime().availableProcessors() / 2), 2, 64 << 10,
                Duration.ofSeconds(2), 16, 1024);
    }
}
