package io.railhead.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The audit stream. At least one destination is set.
 *
 * @param output null if events go to no file
 * @param syslog null if events go to no syslog server
 * @param required whether the gateway is not ready while events cannot be written
 */
public record AuditConfig(@Nullable Output output, @Nullable Syslog syslog, boolean required) {

    /**
     * A file, or standard output.
     *
     * @param path null for standard output
     * @param roll a file of that size is set aside
     * @param keep the number of files that are kept beside the current one
     */
    public record Output(@Nullable Path path, ByteCount roll, int keep, Sync sync) {}

    /** The time when written events are forced to the disk. */
    public enum Sync {
        /** Leaves it to the kernel. */
        OFF,
        /** Forces them at most a second later. */
        SECOND,
        /** Forces each event before the next one is written. */
        EVENT
    }

    /**
     * A syslog server over TLS.
     *
     * @param ca PEM file of the server's authority; null for the JDK's authorities
     * @param client null if the client shows no certificate
     */
    public record Syslog(ListenAddress server, @Nullable Path ca, @Nullable KeyPair client) {}

    /** PEM files of a client's certificate and its key. */
    public record KeyPair(Path certificate, Path key) {}
}
