package io.railhead.gateway.config;

import io.railhead.backend.BackendConfig;
import io.railhead.cache.TenantQuota;
import io.railhead.os.HugePageSize;
import io.railhead.os.devices.GidType;
import io.railhead.protocol.token.Dialects;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * {@code railhead.yaml} whole, checked, defaults filled in.
 *
 * @param settings the same as the file has it, to be shown: by key, secrets masked
 * @param warnings one line for each key of the file that has no effect any more
 */
public record GatewayConfig(Gateway gateway, Cache cache, Map<String, Store> backends, Rules rules,
        Rdma rdma, Admin admin, Log log, @Nullable Tracing tracing,
        Map<String, String> settings, List<String> warnings) {

    public GatewayConfig {
        backends = Collections.unmodifiableMap(new LinkedHashMap<>(backends));
    }

    /** In the order of the reference. What another configuration changes elsewhere is reloaded. */
    public List<String> keysThatNeedARestart(GatewayConfig next) {
        Set<String> keys = new LinkedHashSet<>(settings.keySet());
        keys.addAll(next.settings.keySet());
        return keys.stream()
                .filter(key -> !Objects.equals(settings.get(key), next.settings.get(key)))
                .filter(key -> !Reloadable.is(key))
                .toList();
    }

    /**
     * The front door.
     *
     * @param name of this gateway, where several are listed
     * @param credentials need not be there under {@link AuthMode#PASS_THROUGH}
     * @param domains host name suffixes behind which a virtual-host bucket stands, lower case
     * @param eventLoops never 0: the machine's cores are already filled in
     * @param allowCleartext whether several tenants may use RDMA without TLS
     * @param tls null: plain HTTP
     * @param events null: no events are taken
     * @param sole whether no other gateway, and nobody past this one, writes to what exclusive
     *            rules match
     * @param minRate in a second, on average over the idle timeout, of a body that is waited for
     */
    public record Gateway(String name, ListenAddress listen, ListenAddress health, Path credentials,
            List<String> domains, Duration drain, ByteCount maxHeader, Duration headerTimeout,
            Duration idleTimeout, ByteCount minRate, Admission admission, int eventLoops,
            Access access, boolean sole,
            boolean allowCleartext, @Nullable Tls tls, @Nullable Events events) {

        public Gateway {
            domains = List.copyOf(domains);
        }
    }

    /**
     * What is taken on at a time; 0 is what the machine is good for.
     *
     * @param bytes of bodies in flight
     */
    public record Admission(int requests, ByteCount bytes, int connections) {}

    /**
     * PEM files of the front door, read again when they change.
     *
     * @param certificate the server's own first, then those that vouch for it
     * @param clientCa null: clients need no certificate
     */
    public record Tls(Path certificate, Path key, @Nullable Path clientCa) {}

    /** Notifications of stores. */
    public record Events(Path tokenFile) {}

    /**
     * Who may come in.
     *
     * @param trustedPrincipal who everybody is; null unless the network is trusted
     * @param policy who may do what; null leaves it to the stores
     * @param sigV2 whether signatures of version 2 are verified, or refused
     */
    public record Access(AuthMode mode, @Nullable String trustedPrincipal,
            @Nullable Path policy, boolean sigV2) {}

    /** How callers are known. */
    public enum AuthMode {
        VERIFY,
        PASS_THROUGH,
        TRUSTED_NETWORK
    }

    /**
     * Registered memory.
     *
     * @param hugePages null: ordinary pages
     * @param pinLimit of what may hold cached data
     * @param readAhead 0 ahead of one place: none
     * @param tenants who has a quota or a floor
     * @param verify when bytes that changed in memory are found
     * @param scrub so much of them is looked at each second in the background
     */
    public record Cache(ByteCount memory, ByteCount page, Percent reserve, boolean lock,
            @Nullable HugePageSize hugePages, ByteCount window, ByteCount run,
            int metadataEntries, Percent pinLimit, ReadAhead readAhead,
            Map<String, TenantQuota> tenants, Verify verify, ByteCount scrub) {
        public Cache {
            tenants = Map.copyOf(tenants);
        }
    }

    /** When a page's bytes are compared with its checksum. */
    public enum Verify {
        /** In the background only. */
        SCRUB,
        /** And before they are handed out, each time. */
        ALWAYS
    }

    /** What is fetched ahead of one place in an object, and of all of a tenant's together. */
    public record ReadAhead(ByteCount window, ByteCount perTenant) {}

    /**
     * One of {@code backends:}.
     *
     * @param probeBucket where what the store can do may be tried; null tries less
     */
    public record Store(BackendConfig backend, @Nullable String probeBucket) {}

    /**
     * One-sided delivery.
     *
     * @param gidType of the adapters' addresses
     * @param dialects served beside the one that every client can speak
     */
    public record Rdma(Loopback loopback, VerbsConfig verbs, DcConfig dc,
            GidType gidType, Advertise advertise, Channel channel,
            Duration decideTimeout,
            Duration fenceTimeout, PutDecline putDecline, Dialects.Served dialects,
            int maxSessionsPerPrincipal, Duration tokenAge, Pairs pairs) {

        /** Whether bytes go over RDMA adapters. */
        public boolean usesAdapters() {
            return verbs.enabled() || dc.enabled();
        }
    }

    /**
     * Queue pairs that are paired over HTTP.
     *
     * @param hipobj whether hipobj-rc-v2 is served
     * @param idle without a transfer, after which one ends
     * @param staging of all memory together that clients may write into; 0: they may not
     */
    public record Pairs(boolean hipobj, Duration idle, ByteCount staging) {}

    /**
     * What peers are told instead of the adapters' addresses.
     *
     * @param addresses none: the adapters'
     * @param port 0: the one that is listened on
     */
    public record Advertise(List<String> addresses, int port) {
        public Advertise {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * The native request channel, over every fabric.
     *
     * @param maxRequests of one session without their answer
     * @param keepAlive how often a peer says something at least
     * @param requestTimeout from a request's arrival until its transfer is declined or fenced
     */
    public record Channel(int maxRequests, Duration keepAlive, Duration requestTimeout) {}

    /**
     * The fabric of one host.
     *
     * @param named whether the file says anything of it: then it stops the start where it cannot be
     *            had, and is off otherwise
     * @param crossMemory whether processes may have their own, unshared memory attached to
     */
    public record Loopback(boolean enabled, Path socket, boolean crossMemory, boolean named) {}

    /** How a PUT whose token is declined is answered. */
    public enum PutDecline {
        /** 501, as deployed clients expect. */
        FAIL_CLOSED,
        /** As the draft specification has it. */
        SPEC
    }

    /** Status page and administration. */
    public record Admin(boolean enabled, ListenAddress listen) {}

    /**
     * What is written down.
     *
     * @param json whether a line of the application's log is a JSON object
     * @param level of the application's log
     * @param access null: no access log
     */
    public record Log(boolean json, Level level, @Nullable AccessFile access) {}

    /**
     * The access log.
     *
     * @param path null: standard output
     * @param roll a file of more bytes is compressed and set aside
     */
    public record AccessFile(@Nullable Path path, ByteCount roll, int keepDays) {}

    /**
     * Traces of HTTP requests.
     *
     * @param endpoint of a collector that takes OTLP over HTTP, without the path
     * @param sample of the requests that do not say whether they are traced
     */
    public record Tracing(URI endpoint, Percent sample) {}
}
