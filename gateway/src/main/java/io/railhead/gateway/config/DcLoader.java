package io.railhead.gateway.config;

import io.railhead.gateway.config.DcConfig.Outstanding;
import io.railhead.gateway.config.DcConfig.Sending;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads {@code rdma.dc:}; keys that it shares are read as {@link VerbsLoader} does. */
final class DcLoader {
    private final Path folder;

    DcLoader(Path folder) {
        this.folder = folder;
    }

    DcConfig load(Section section, ByteCount slice) throws ConfigException {
        DcConfig dc = new DcConfig(
                section.flag("enabled", false),
                VerbsLoader.pin(section, "rdma.dc.device"),
                VerbsLoader.mtu(section),
                section.count("initiators", 32, 1, 4096),
                keyFile(section),
                sending(section),
                outstanding(section, slice));
        section.close();
        return dc;
    }

    private @Nullable Path keyFile(Section section) throws ConfigException {
        String file = section.text("key_file");
        return file == null ? null : folder.resolve(file);
    }

    private static Sending sending(Section section) throws ConfigException {
        return new Sending(
                VerbsLoader.bounded(section, "ack_timeout", 16, 31, 0,
                        "0 waits for ever, and a lost client never shows"),
                section.count("retry_count", 7, 0, 7),
                VerbsLoader.bounded(section, "rnr_retry", 3, 6, 7, "7 retries for ever; at most 6"),
                section.count("hop_limit", 64, 1, 255),
                section.count("traffic_class", 96, 0, 255),
                section.count("service_level", 0, 0, 15));
    }

    private static Outstanding outstanding(Section section, ByteCount slice)
            throws ConfigException {
        Outstanding outstanding = new Outstanding(
                section.bytes("max_outstanding_per_principal", "64MiB"),
                section.bytes("max_outstanding_per_port", "256MiB"));
        if (outstanding.principal().bytes() < slice.bytes()) {
            throw section.problem("max_outstanding_per_principal",
                    "must hold at least one cache.page of " + slice);
        }
        if (outstanding.port().bytes() < outstanding.principal().bytes()) {
            throw section.problem("max_outstanding_per_port",
                    "must hold at least max_outstanding_per_principal, "
                            + outstanding.principal());
        }
        return outstanding;
    }
}
