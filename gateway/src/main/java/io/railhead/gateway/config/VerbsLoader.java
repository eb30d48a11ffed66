package io.railhead.gateway.config;

import io.railhead.gateway.config.VerbsConfig.Connection;
import io.railhead.gateway.config.VerbsConfig.Listening;
import io.railhead.gateway.config.VerbsConfig.Outstanding;
import io.railhead.gateway.config.VerbsConfig.Pin;
import io.railhead.gateway.config.VerbsConfig.Polling;
import io.railhead.gateway.config.VerbsConfig.Queues;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code rdma.verbs:}. */
final class VerbsLoader {
    private static final String AUTO = "auto";
    private static final List<String> MTUS = List.of("256", "512", "1024", "2048", "4096");
    private static final Duration MAX_SPIN = Duration.ofMillis(10);

    private VerbsLoader() {}

    static VerbsConfig load(Section section, ByteCount slice) throws ConfigException {
        VerbsConfig verbs = new VerbsConfig(
                section.flag("enabled", false),
                new Listening(addresses(section), section.count("port", 7471, 0, 65_535)),
                pin(section, "rdma.verbs.device"),
                connection(section),
                new Queues(section.count("send_queue_depth", 256, 64, 32_768),
                        section.count("read_depth", 16, 1, 255)),
                new Polling(section.count("pollers", 1, 1, 64), spin(section)),
                outstanding(section, slice));
        section.close();
        return verbs;
    }

    private static List<InetAddress> addresses(Section section) throws ConfigException {
        List<InetAddress> addresses = new ArrayList<>();
        for (String text : section.texts("listen")) {
            InetAddress address = address(section, text);
            if (address.isAnyLocalAddress()) {
                throw section.problem("listen",
                        "'" + text + "' is no adapter's; leave the list empty for all of them");
            }
            if (address.isLinkLocalAddress()) {
                throw section.problem("listen", "'" + text
                        + "' is link-local, which no other subnet reaches; name another address");
            }
            addresses.add(address);
        }
        return addresses;
    }

    private static InetAddress address(Section section, String text) throws ConfigException {
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw section.problem("listen",
                    "'" + text
                            + "' is not an IP address such as 10.0.0.5; the port is rdma.verbs.port");
        }
    }

    /** @param device the full name of the key for the device */
    static Pin pin(Section section, String device) throws ConfigException {
        Pin pin = new Pin(section.text("device"),
                section.count("device_port", 1, 1, 255),
                section.value("gid_index", AUTO, VerbsLoader::gidIndex));
        if (pin.gidIndex() != null && pin.device() == null) {
            throw section.problem("gid_index", "is one device's; name it under " + device);
        }
        return pin;
    }

    private static @Nullable Integer gidIndex(String text) {
        if (text.equals(AUTO)) {
            return null;
        }
        if (!text.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("must be auto or an index such as 3: " + text);
        }
        return Integer.valueOf(text);
    }

    private static Connection connection(Section section) throws ConfigException {
        return new Connection(mtu(section),
                section.count("traffic_class", 0, 0, 255),
                section.value("service_level", AUTO, VerbsLoader::serviceLevel),
                bounded(section, "ack_timeout", 14, 31, 0,
                        "0 waits for ever, and a lost peer never shows"),
                bounded(section, "retry_count", 6, 6, 7,
                        "7 retries for ever on some adapters, and a lost peer never shows; at most 6"),
                bounded(section, "rnr_retry", 3, 3, 7, "7 retries for ever; at most 3"),
                bounded(section, "min_rnr_timer", 12, 31, 0,
                        "0 stands for 655 ms; 12 for 0.64 ms"));
    }

    /**
     * Returns a count up to {@code max}; the value next to its range is refused with a reason of
     * its own.
     */
    static int bounded(Section section, String key, int otherwise, int max, int trap,
            String reason) throws ConfigException {
        int value = section.count(key, otherwise, 0, Math.max(max, trap));
        if (value == trap) {
            throw section.problem(key, reason);
        }
        if (value > max) {
            throw section.problem(key, "must be 0 to " + max + ": " + value);
        }
        return value;
    }

    /** Returns the MTU in bytes; null for the path's own. */
    static @Nullable Integer mtu(Section section) throws ConfigException {
        return section.value("mtu", AUTO, VerbsLoader::mtu);
    }

    private static @Nullable Integer mtu(String text) {
        if (text.equals(AUTO)) {
            return null;
        }
        if (!MTUS.contains(text)) {
            throw new IllegalArgumentException(
                    "must be auto, " + String.join(", ", MTUS) + ": " + text);
        }
        return Integer.valueOf(text);
    }

    private static @Nullable Integer serviceLevel(String text) {
        if (text.equals(AUTO)) {
            return null;
        }
        if (!text.matches("[0-9]|1[0-5]")) {
            throw new IllegalArgumentException("must be auto or 0 to 15: " + text);
        }
        return Integer.valueOf(text);
    }

    private static Duration spin(Section section) throws ConfigException {
        Duration spin = section.duration("spin", "20us");
        if (spin.compareTo(MAX_SPIN) > 0) {
            throw section.problem("spin", "must be at most 10ms");
        }
        return spin;
    }

    private static Outstanding outstanding(Section section, ByteCount slice)
            throws ConfigException {
        Outstanding outstanding = new Outstanding(
                section.bytes("max_outstanding_per_queue_pair", "16MiB"),
                section.bytes("max_outstanding_per_principal", "64MiB"),
                section.bytes("max_outstanding_per_port", "256MiB"));
        if (outstanding.queuePair().bytes() < slice.bytes()) {
            throw section.problem("max_outstanding_per_queue_pair",
                    "must hold at least one cache.page of " + slice);
        }
        if (outstanding.principal().bytes() < outstanding.queuePair().bytes()) {
            throw section.problem("max_outstanding_per_principal",
                    "must hold at least max_outstanding_per_queue_pair, "
                            + outstanding.queuePair());
        }
        if (outstanding.port().bytes() < outstanding.principal().bytes()) {
            throw section.problem("max_outstanding_per_port",
                    "must hold at least max_outstanding_per_principal, "
                            + outstanding.principal());
        }
        return outstanding;
    }
}
