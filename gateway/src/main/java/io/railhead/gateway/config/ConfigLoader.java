package io.railhead.gateway.config;

import java.nio.file.Path;

/** Reads {@code railhead.yaml}. */
public final class ConfigLoader {
    private ConfigLoader() {}

    /** Reads and checks the file; what is understood but not served yet is refused too. */
    public static GatewayConfig load(Path file) throws ConfigException {
        throw new UnsupportedOperationException(file.toString());
    }
}
