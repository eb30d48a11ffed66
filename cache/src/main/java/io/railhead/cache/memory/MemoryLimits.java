package io.railhead.cache.memory;

import io.railhead.os.HostLimits;
import java.util.Locale;

/** Refuses, in one line that says what to set, more memory than this machine can give. */
final class MemoryLimits {
    private static final double GIB = 1 << 30;
    private static final double MIB = 1 << 20;

    private MemoryLimits() {}

    static void require(MemoryConfig config, HostLimits limits) {
        if (config.memoryBytes() > limits.availableBytes()) {
            throw new IllegalArgumentException("cache.memory: " + size(config.memoryBytes())
                    + " is more than the " + size(limits.availableBytes())
                    + " this machine has free: set cache.memory to at most "
                    + whole(limits.availableBytes()));
        }
        if (config.lock() && config.memoryBytes() > limits.memlockBytes()) {
            throw new IllegalArgumentException("cache.memory: " + size(config.memoryBytes())
                    + " is more than the " + size(limits.memlockBytes())
                    + " this process may lock: set LimitMEMLOCK (systemd) or ulimit -l to at least "
                    + config.memoryBytes() / 1024 + " KiB, or set cache.memory to at most "
                    + whole(limits.memlockBytes()));
        }
    }

    private static String size(long bytes) {
        if (bytes >= GIB) {
            return trimmed(bytes / GIB) + "GiB";
        }
        return bytes >= MIB ? trimmed(bytes / MIB) + "MiB" : bytes / 1024 + "KiB";
    }

    /** Rounded down, and a little below what is free now: it is not free for long. */
    private static String whole(long bytes) {
        long advised = bytes / 20 * 19;
        if (advised >= GIB) {
            return (long) (advised / GIB) + "GiB";
        }
        return advised >= MIB ? (long) (advised / MIB) + "MiB" : advised / 1024 + "KiB";
    }

    private static String trimmed(double number) {
        String text = String.format(Locale.ROOT, "%.1f", number);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
