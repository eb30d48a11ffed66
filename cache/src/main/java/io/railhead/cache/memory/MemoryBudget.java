package io.railhead.cache.memory;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.railhead.os.HostLimits;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a gateway may come to use, as the one sum that starts, checks and advice use. It
 * counts the whole cache, and heap and direct memory at their maxima.
 *
 * @param cacheBytes 0 for reserved huge pages, which the limit does not count
 * @param indexBytes the disk tier's index; 0 without one
 * @param directBytes buffers of network connections
 * @param otherBytes threads, code, and the JVM's class data
 */
public record MemoryBudget(long cacheBytes, long indexBytes, long heapBytes, long directBytes,
        long otherBytes) {
    private static final long OTHER_BYTES = 256L << 20;
    private static final double GIB = 1 << 30;
    private static final double MIB = 1 << 20;

    /**
     * Returns the budget with the heap and direct memory of this JVM.
     *
     * @param indexBytes see {@link io.railhead.cache.disk.DiskMemory}
     */
    public static MemoryBudget of(MemoryConfig cache, long indexBytes) {
        return new MemoryBudget(cache.hugePages() == null ? cache.memoryBytes() : 0, indexBytes,
                Runtime.getRuntime().maxMemory(), maxDirectBytes(), OTHER_BYTES);
    }

    /**
     * Returns the JVM's limit of direct memory: the heap's maximum unless an option sets another.
     */
    public static long maxDirectBytes() {
        HotSpotDiagnosticMXBean jvm = ManagementFactory
                .getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long told = Long.parseLong(jvm.getVMOption("MaxDirectMemorySize").getValue());
        return told > 0 ? told : Runtime.getRuntime().maxMemory();
    }

    public long sumBytes() {
        return cacheBytes + besidesBytes();
    }

    private long besidesBytes() {
        return indexBytes + heapBytes + directBytes + otherBytes;
    }

    /**
     * Returns one line with the fault and its cure if the process may grow past its control group's
     * limit; null if it cannot. The kernel would kill the process without a message.
     */
    public @Nullable String excess(HostLimits limits) {
        return sumBytes() <= limits.limitBytes()
                ? null
                : "cache.memory: " + this + " is more than the " + size(limits.limitBytes())
                        + " that this process's control group may use: "
                        + mend(limits.limitBytes());
    }

    /** Names the settings with which the sum fits into that many bytes. */
    String mend(long bytes) {
        long cache = bytes / 20 * 19 - besidesBytes();
        String smaller = (indexBytes == 0 ? "" : "cache.disk.size or ")
                + "-Xmx and -XX:MaxDirectMemorySize in JDK_JAVA_OPTIONS lower";
        return cache >= 64L << 20
                ? "set cache.memory to at most " + whole(cache) + ", or " + smaller
                : "set " + smaller + ", or give it more memory";
    }

    /** Names the sum, part by part. */
    @Override
    public String toString() {
        return (cacheBytes == 0 ? "" : "cache " + size(cacheBytes) + " + ")
                + (indexBytes == 0 ? "" : "index of the disk tier " + size(indexBytes) + " + ")
                + "heap "
                + size(heapBytes) + " + direct memory " + size(directBytes)
                + " + threads and code " + size(otherBytes) + " = " + size(sumBytes());
    }

    static String size(long bytes) {
        if (bytes >= GIB) {
            return trimmed(bytes / GIB) + "GiB";
        }
        return bytes >= MIB ? trimmed(bytes / MIB) + "MiB" : bytes / 1024 + "KiB";
    }

    private static String whole(long bytes) {
        return bytes >= 2 * GIB ? (long) (bytes / GIB) + "GiB" : (long) (bytes / MIB) + "MiB";
    }

    private static String trimmed(double number) {
        String text = String.format(Locale.ROOT, "%.1f", number);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
