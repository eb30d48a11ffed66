package io.railhead.gateway.config;

import io.railhead.gateway.config.AuditConfig.Output;
import io.railhead.gateway.config.AuditConfig.Sync;
import io.railhead.gateway.config.AuditConfig.Syslog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@code audit}. */
final class AuditLoader {
    private static final long MIN_ROLL_BYTES = 64 << 10;
    private static final Map<String, Sync> SYNC = new TreeMap<>(
            Map.of("off", Sync.OFF, "second", Sync.SECOND, "event", Sync.EVENT));

    private final Path folder;

    AuditLoader(Path folder) {
        this.folder = folder;
    }

    AuditConfig load(Section section) throws ConfigException {
        AuditConfig audit = new AuditConfig(output(section), syslog(section),
                section.flag("required", false));
        section.close();
        if (audit.output() == null && audit.syslog() == null) {
            throw section.missing("file", "is missing; name a file, stdout, or a syslog.server");
        }
        return audit;
    }

    private @Nullable Output output(Section section) throws ConfigException {
        String file = section.text("file");
        ByteCount roll = section.bytes("roll", "100MiB");
        int keep = section.count("keep", 30, 1, 1000);
        Sync sync = section.choice("sync", "second", SYNC);
        if (roll.bytes() < MIN_ROLL_BYTES) {
            throw section.problem("roll", "must be at least 64KiB: " + roll);
        }
        if (file == null) {
            return null;
        }
        if (file.equals("stdout")) {
            return new Output(null, roll, keep, sync);
        }
        Path path = folder.resolve(file);
        Path parent = path.getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw section.problem("file", "no such folder: " + parent);
        }
        return new Output(path, roll, keep, sync);
    }

    private @Nullable Syslog syslog(Section audit) throws ConfigException {
        if (!audit.has("syslog")) {
            return null;
        }
        Section section = audit.section("syslog");
        section.requireText("server");
        Syslog syslog = new Syslog(section.value("server", "", AuditLoader::server),
                file(section, "ca"), client(section));
        section.close();
        return syslog;
    }

    private static ListenAddress server(String text) {
        ListenAddress server = ListenAddress.parse(text);
        if (server.port() == 0) {
            throw new IllegalArgumentException("'" + text + "' needs a port, such as 6514");
        }
        return server;
    }

    private AuditConfig.@Nullable KeyPair client(Section section) throws ConfigException {
        Path certificate = file(section, "certificate");
        Path key = file(section, "key");
        if ((certificate == null) != (key == null)) {
            throw section.problem(certificate == null ? "certificate" : "key",
                    "is missing; a client's certificate and its key go together");
        }
        return certificate == null || key == null
                ? null
                : new AuditConfig.KeyPair(certificate, key);
    }

    private @Nullable Path file(Section section, String key) throws ConfigException {
        String name = section.text(key);
        return name == null ? null : ConfigLoader.existing(folder, section, key, name);
    }
}
