package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Tls;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads the TLS files of a port. */
final class TlsLoader {
    private final Path folder;

    TlsLoader(Path folder) {
        this.folder = folder;
    }

    /** Returns null if the section is absent: the port then speaks plain HTTP. */
    @Nullable
    Tls load(Section parent, String name) throws ConfigException {
        if (!parent.has(name)) {
            return null;
        }
        Section section = parent.section(name);
        Tls tls = new Tls(
                ConfigLoader.existing(folder, section, "certificate",
                        section.requireText("certificate")),
                ConfigLoader.existing(folder, section, "key", section.requireText("key")),
                section.has("client_ca")
                        ? ConfigLoader.existing(folder, section, "client_ca",
                                section.requireText("client_ca"))
                        : null);
        section.close();
        return tls;
    }
}
