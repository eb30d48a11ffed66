package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Advertise;
import io.railhead.gateway.config.GatewayConfig.Channel;
import io.railhead.gateway.config.GatewayConfig.Loopback;
import io.railhead.gateway.config.GatewayConfig.Pairs;
import io.railhead.gateway.config.GatewayConfig.PutDecline;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.os.devices.GidType;
import io.railhead.protocol.token.Dialects;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads {@code rdma:}. */
final class RdmaLoader {
    private static final Duration MIN_KEEP_ALIVE = Duration.ofSeconds(1);
    private static final Duration MAX_KEEP_ALIVE = Duration.ofMinutes(5);
    private static final Map<String, PutDecline> PUT_DECLINES = new TreeMap<>(Map.of(
            "fail-closed", PutDecline.FAIL_CLOSED,
            "spec", PutDecline.SPEC));
    private static final Map<String, GidType> GID_TYPES = Arrays
            .stream(GidType.values())
            .collect(Collectors.toMap(GidType::configured, type -> type, (one, _) -> one,
                    TreeMap::new));

    /**
     * The kernel allows 107 bytes; a dot and a process's number are appended while the socket is
     * bound.
     */
    private static final int MAX_SOCKET_BYTES = 99;

    private final Path folder;

    RdmaLoader(Path folder) {
        this.folder = folder;
    }

    /** @param slice the most bytes of one work request: smaller limits would admit none */
    Rdma load(Section section, ByteCount slice) throws ConfigException {
        section.retired("provider", "foreign", "rdma-core is always called by Railhead itself");
        Section dialects = section.section("dialects");
        Rdma rdma = new Rdma(
                loopback(section.section("loopback")),
                VerbsLoader.load(section.section("verbs"), slice),
                new DcLoader(folder).load(section.section("dc"), slice),
                section.choice("gid_type", "rocev2", GID_TYPES),
                advertise(section.section("advertise")),
                channel(section.section("channel")),
                section.timeout("decide_timeout", "2s"),
                section.timeout("fence_timeout", "7s"),
                section.choice("put_decline", "fail-closed", PUT_DECLINES),
                served(dialects),
                section.count("max_sessions_per_principal", 64, 1, 65_536),
                section.timeout("token_age", "60s"),
                pairs(section, dialects));
        dialects.close();
        section.close();
        if (rdma.fenceTimeout().compareTo(rdma.decideTimeout()) <= 0) {
            throw section.problem("fence_timeout", "must be longer than rdma.decide_timeout");
        }
        return rdma;
    }

    private static Dialects.Served served(Section dialects) throws ConfigException {
        return new Dialects.Served(dialects.flag("rdma_info", false),
                dialects.flag("cuobj", false), dialects.flag("connect", true));
    }

    private static Pairs pairs(Section section, Section dialects) throws ConfigException {
        return new Pairs(dialects.flag("hipobj", true),
                section.timeout("pair_idle", "60s"), section.bytes("staging", "0"));
    }

    private Loopback loopback(Section section) throws ConfigException {
        boolean named = !section.keys().isEmpty();
        Loopback loopback = new Loopback(section.flag("enabled", true),
                folder.resolve(section.text("socket", "/run/railhead/loopback.sock")),
                section.flag("cross_memory", false), named);
        section.close();
        int length = loopback.socket().toString().getBytes(StandardCharsets.UTF_8).length;
        if (loopback.enabled() && length > MAX_SOCKET_BYTES) {
            throw section.problem("socket", "must be at most " + MAX_SOCKET_BYTES
                    + " bytes long, and is " + length + ": the kernel takes 107, and it is bound"
                    + " under a longer name first: " + loopback.socket());
        }
        return loopback;
    }

    private static Advertise advertise(Section section) throws ConfigException {
        List<String> addresses = section.texts("addresses");
        if (addresses.stream().anyMatch(String::isBlank)) {
            throw section.problem("addresses", "must not hold an empty one");
        }
        Advertise advertise = new Advertise(addresses, section.count("port", 0, 0, 65_535));
        section.close();
        return advertise;
    }

    private static Channel channel(Section section) throws ConfigException {
        Channel channel = new Channel(section.count("max_requests", 64, 1, 1024),
                section.duration("keep_alive", "10s"),
                section.timeout("request_timeout", "60s"));
        section.close();
        if (channel.keepAlive().compareTo(MIN_KEEP_ALIVE) < 0
                || channel.keepAlive().compareTo(MAX_KEEP_ALIVE) > 0) {
            throw section.problem("keep_alive", "must be 1s to 5m");
        }
        return channel;
    }
}
