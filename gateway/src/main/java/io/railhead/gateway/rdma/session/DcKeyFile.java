package io.railhead.gateway.rdma.session;

import io.railhead.gateway.config.DcConfig;
import io.railhead.rdma.dc.DcKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads the DC key that is configured, and decides whether several tenants may share the gateway
 * with it.
 */
public final class DcKeyFile {
    private static final int MAX_BYTES = 4096;

    private DcKeyFile() {}

    /**
     * Returns the key, or the well-known one if no file is configured. Throws one line if the file
     * holds no key.
     */
    public static DcKey read(DcConfig dc) {
        Path file = dc.keyFile();
        if (file == null) {
            return DcKey.WELL_KNOWN;
        }
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new IllegalArgumentException("must hold one key of 1 to 16 hex digits");
            }
            return DcKey.parse(Files.readString(file));
        } catch (IOException e) {
            throw new IllegalArgumentException("rdma.dc.key_file: cannot be read: " + e, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("rdma.dc.key_file: " + e.getMessage(), e);
        }
    }

    /**
     * Returns why several tenants may not use DC with this key; null if they may. With the
     * well-known key, any host on the fabric can reach the memory behind a target whose number and
     * memory key it guesses.
     *
     * @param severalTenants whether the credentials in force now are of several tenants
     */
    public static @Nullable String reasonAgainst(DcConfig dc, DcKey key,
            boolean severalTenants) {
        return dc.enabled() && key.isWellKnown() && severalTenants
                ? "rdma.dc.key_file: " + (dc.keyFile() == null ? "is missing" : "holds that key")
                        + ", and with the well-known DC key no tenant's memory is its own; write a"
                        + " random one of 16 hex digits there and into every client's configuration"
                : null;
    }

    /** Throws the reason of {@link #reasonAgainst} where there is one. */
    public static void require(DcConfig dc, DcKey key, boolean severalTenants) {
        String reason = reasonAgainst(dc, key, severalTenants);
        if (reason != null) {
            throw new IllegalArgumentException(reason);
        }
    }
}
