package io.railhead.gateway.config;

import io.railhead.cache.TenantQuota;
import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.WrappingKeys;
import io.railhead.gateway.config.GatewayConfig.Disk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads {@code cache.disk}. */
final class DiskLoader {
    private static final String WRITES = "a number of times the disks' size, such as 1 or 0.3, or"
            + " a size such as 500GiB";

    /** Sorted, so that a refusal and the reference name them in one order. */
    private static final Map<String, Boolean> ENCRYPT = new TreeMap<>(
            Map.of("off", false, "tenant", true));
    private static final long MOST_KEY_FILE_BYTES = 4096;

    private DiskLoader() {}

    /** Returns null if no disk is named. */
    static @Nullable Disk load(Section section, Path folder) throws ConfigException {
        List<String> paths = section.texts("paths");
        ByteCount size = section.bytes("size", "0");
        ByteCount minObject = section.bytes("min_object", "16KiB");
        long total = size.bytes() * paths.size();
        ByteCount writes = section.value("writes_per_day", "1", text -> writes(text, total));
        Map<String, TenantQuota> tenants = TenantLoader.tenants(section, total,
                "all disks have");
        boolean encrypted = section.choice("encrypt", "off", ENCRYPT);
        WrappingKeys keys = keys(section, folder, encrypted);
        section.close();
        if (paths.isEmpty()) {
            return null;
        }
        for (String path : paths) {
            requireUsable(section, Path.of(path));
        }
        if (new HashSet<>(paths).size() < paths.size()) {
            throw section.problem("paths", "names a file or device twice");
        }
        if (size.bytes() < DiskConfig.leastBytes() || size.bytes() > DiskConfig.mostBytes()) {
            throw section.problem("size", "must be from 130MiB to 16TiB: " + size);
        }
        long excess = size.bytes() % DiskConfig.UNIT_BYTES;
        if (excess != 0) {
            throw section.problem("size", "must be a multiple of " + DiskConfig.UNIT_BYTES
                    + " bytes, such as " + (size.bytes() - excess) + ": " + size);
        }
        return new Disk(paths, size, writes, minObject, tenants, keys);
    }

    private static @Nullable WrappingKeys keys(Section section, Path folder, boolean encrypted)
            throws ConfigException {
        String file = section.text("key_file");
        if (!encrypted) {
            if (file != null) {
                throw section.problem("key_file", "is of use with encrypt: tenant only");
            }
            return null;
        }
        if (file == null) {
            throw section.missing("key_file", "a file with a key of 32 bytes in hex or base64");
        }
        Path path = folder.resolve(file);
        try {
            if (isOthers(path)) {
                throw section.problem("key_file", "can be read or written by others: chmod o-rwx "
                        + path);
            }
            if (Files.size(path) > MOST_KEY_FILE_BYTES) {
                throw section.problem("key_file", "is too long for keys: " + path);
            }
            return WrappingKeys.parse(Files.readString(path));
        } catch (IOException e) {
            throw section.problem("key_file", "cannot be read: " + e);
        } catch (IllegalArgumentException e) {
            throw section.problem("key_file", String.valueOf(e.getMessage()));
        }
    }

    private static boolean isOthers(Path path) throws IOException {
        Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path);
        return permissions.contains(PosixFilePermission.OTHERS_READ)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE);
    }

    private static void requireUsable(Section section, Path path) throws ConfigException {
        Path parent = path.getParent();
        if (!path.isAbsolute() || parent == null) {
            throw section.problem("paths", "must be absolute: " + path);
        }
        if (!Files.isDirectory(parent)) {
            throw section.problem("paths", "no such folder: " + parent);
        }
        if (Files.isDirectory(path)) {
            throw section.problem("paths", "is a folder, and must be a file or a device: " + path);
        }
    }

    private static ByteCount writes(String text, long totalBytes) {
        try {
            double times = Double.parseDouble(text);
            if (times >= 0 && times <= 100) {
                return new ByteCount((long) (times * totalBytes));
            }
        } catch (NumberFormatException notANumber) {
            try {
                return ByteCount.parse(text);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("'" + text + "' is not " + WRITES, e);
            }
        }
        throw new IllegalArgumentException("'" + text + "' is not " + WRITES);
    }
}
