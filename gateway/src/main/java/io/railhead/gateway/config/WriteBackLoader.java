package io.railhead.gateway.config;

import io.railhead.cache.writeback.WriteLog;
import io.railhead.os.BlockFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code write_back}, and requires what rules with {@code acknowledge: disk} need. */
final class WriteBackLoader {
    private static final List<String> KEYS = List.of("size", "wait", "rate", "tenant_quota");
    /** The least rate at which a checkpoint ends; a rate is easily written in the wrong unit. */
    private static final long LEAST_RATE = 1 << 20;

    private WriteBackLoader() {}

    /** Returns null if no file is named. */
    static GatewayConfig.@Nullable WriteBack load(Section root, GatewayConfig.Gateway gateway,
            Rules rules) throws ConfigException {
        Section section = root.section("write_back");
        String path = section.text("path");
        GatewayConfig.WriteBack settings = new GatewayConfig.WriteBack(path == null ? "" : path,
                section.bytes("size", "0"), section.timeout("wait", "30s"),
                section.bytes("rate", "0"),
                section.value("tenant_quota", "100%", Quantity::percent));
        section.close();
        requireForRules(root, path, gateway, rules);
        if (path == null) {
            if (KEYS.stream().anyMatch(section::has)) {
                throw section.missing("path", "is missing; it names the file of the log");
            }
            return null;
        }
        requireUsable(section, Path.of(path));
        long bytes = settings.size().bytes();
        if (bytes < WriteLog.leastBytes() || bytes % BlockFile.BLOCK_BYTES != 0) {
            throw section.problem("size", "must be at least 64MiB, and a multiple of "
                    + BlockFile.BLOCK_BYTES + " bytes: " + settings.size());
        }
        if (settings.rate().bytes() != 0 && settings.rate().bytes() < LEAST_RATE) {
            throw section.problem("rate", "must be 0 for no limit, or at least 1MiB: "
                    + settings.rate());
        }
        int leastQuota = WriteLog.leastPercent(bytes);
        if (settings.tenantQuota().value() < leastQuota) {
            throw section.problem("tenant_quota", "must be at least " + leastQuota
                    + "% of a log of this size, or it has no room for one upload's record");
        }
        if (root.has("cluster")) {
            throw root.problem("write_back", "cannot be used with cluster yet: other gateways"
                    + " would serve what was there before");
        }
        return settings;
    }

    private static void requireUsable(Section section, Path path) throws ConfigException {
        Path parent = path.getParent();
        if (!path.isAbsolute() || parent == null) {
            throw section.problem("path", "must be absolute: " + path);
        }
        if (!Files.isDirectory(parent)) {
            throw section.problem("path", "no such folder: " + parent);
        }
        if (Files.isDirectory(path)) {
            throw section.problem("path", "is a folder, and must be a file or a device: " + path);
        }
    }

    private static void requireForRules(Section root, @Nullable String path,
            GatewayConfig.Gateway gateway, Rules rules) throws ConfigException {
        int rule = rules.first(Rule::acknowledgesAtDisk);
        if (rule < 0) {
            return;
        }
        String key = "rules[" + rule + "].acknowledge";
        if (path == null) {
            throw root.problem(key, "disk needs write_back.path, the file that keeps the writes");
        }
        if (gateway.access().mode() != GatewayConfig.AuthMode.VERIFY) {
            throw root.problem(key, "disk needs gateway.authentication: verify, since the store is"
                    + " not asked before the acknowledgement");
        }
        if (gateway.access().policy() == null) {
            throw root.problem(key, "disk needs gateway.policy, the file that grants the writers"
                    + " their writes before the store is asked");
        }
        if (!gateway.sole()) {
            throw root.problem(key, "disk needs gateway.sole: true, which says that no other"
                    + " gateway and nobody past this one writes there");
        }
    }
}
