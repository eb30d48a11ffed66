package io.railhead.gateway.config;

import io.railhead.backend.BackendConfig;
import io.railhead.cache.TenantQuota;
import io.railhead.cache.disk.DiskMemory;
import io.railhead.cache.disk.WrappingKeys;
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
 * The whole {@code railhead.yaml}, checked, with defaults filled in.
 *
 * @param audit null for no audit stream
 * @param cluster null for a gateway whose cache is its own
 * @param writeBack null for a gateway that acknowledges no write before the store has it
 * @param settings the values by key for display, with secrets masked
 * @param warnings one line for each key that has no effect any more
 */
public record GatewayConfig(Gateway gateway, Cache cache, Map<String, Store> backends, Rules rules,
        Rdma rdma, Admin admin, Log log, @Nullable Tracing tracing, Accounting accounting,
        @Nullable AuditConfig audit, @Nullable Cluster cluster, @Nullable WriteBack writeBack,
        Map<String, String> settings, List<String> warnings) {

    public GatewayConfig {
        backends = Collections.unmodifiableMap(new LinkedHashMap<>(backends));
    }

    /**
     * Returns the changed keys that need a restart, in the reference's order; other changes are
     * reloaded.
     */
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
     * @param name the name of this gateway, where several are listed
     * @param credentials may be missing under {@link AuthMode#PASS_THROUGH}
     * @param domains host name suffixes of virtual-host buckets, lower case
     * @param warmUp how long the JVM is warmed up before a start; zero for not at all
     * @param eventLoops never 0: the machine's cores are filled in
     * @param allowCleartext whether several tenants may use RDMA without TLS
     * @param tls null for plain HTTP
     * @param healthTls the same of the health port
     * @param events null if events are not accepted
     * @param webIdentity null if no token is exchanged for credentials
     * @param sole whether every write to objects of exclusive rules goes through this gateway
     * @param minRate the lowest average rate of a body, a second, over the idle timeout
     */
    public record Gateway(String name, ListenAddress listen, ListenAddress health, Path credentials,
            List<String> domains, Duration drain, Duration warmUp, ByteCount maxHeader,
            Duration headerTimeout,
            Duration idleTimeout, ByteCount minRate, Admission admission, int eventLoops,
            Access access, boolean sole,
            boolean allowCleartext, @Nullable Tls tls, @Nullable Tls healthTls,
            @Nullable Events events, @Nullable WebIdentity webIdentity) {

        public Gateway {
            domains = List.copyOf(domains);
        }
    }

    /**
     * The limits of admission; 0 for the machine's default.
     *
     * @param bytes the most bytes of bodies in flight
     * @param rates of tenants
     */
    public record Admission(int requests, ByteCount bytes, int connections, RateLimits rates) {}

    /**
     * PEM files of a listener, read again when they change.
     *
     * @param certificate the server's own first, then its issuers
     * @param clientCa null if clients need no certificate
     */
    public record Tls(Path certificate, Path key, @Nullable Path clientCa) {}

    /**
     * Several gateways whose caches are one.
     *
     * @param name of the cluster
     * @param listen the address that the other members connect to
     * @param members every member's {@code listen}; empty if a name says it
     * @param dns a name that has the addresses of all members; null if a list says it
     * @param fills the address at which the others ask for what this one owns; null if nothing is
     *            shared out
     * @param endpoint the URL by which clients reach this gateway; null for that of its listener
     * @param tls null on one host only
     */
    public record Cluster(String name, ListenAddress listen, List<ListenAddress> members,
            @Nullable String dns, @Nullable ListenAddress fills, @Nullable String endpoint,
            @Nullable Tls tls) {

        public Cluster {
            members = List.copyOf(members);
        }
    }

    /**
     * The log of writes that are acknowledged at the gateway's disk.
     *
     * @param path a file of its own
     * @param patience how long a request waits for pending writes
     * @param rate the most bytes a second that are written to one store; 0 for no limit
     * @param tenantQuota the most of the log that a tenant may hold, or a principal without one
     */
    public record WriteBack(String path, ByteCount size, Duration patience, ByteCount rate,
            Percent tenantQuota) {}

    /** Notifications of stores. */
    public record Events(Path tokenFile) {}

    /**
     * The exchange of tokens for credentials.
     *
     * @param sessionKeys null for a key that ends with the process
     * @param issuers by their names
     */
    public record WebIdentity(@Nullable Path sessionKeys, Map<String, Issuer> issuers) {

        public WebIdentity {
            issuers = Collections.unmodifiableMap(new LinkedHashMap<>(issuers));
        }
    }

    /**
     * An issuer of tokens that are exchanged.
     *
     * @param issuer the {@code iss} of its tokens
     * @param jwks where its keys are; null if a file or the issuer's own document says so
     * @param jwksFile its keys; null if they are fetched
     * @param ca the authority of its TLS certificate; null for the machine's authorities
     * @param tokenFile the bearer token of requests for the keys; null if they need none
     * @param tokenHosts patterns of hosts other than the issuer's own that may be shown that token
     * @param singleUse whether a token is exchanged once only, by its {@code jti}
     */
    public record Issuer(String issuer, List<String> audiences, @Nullable URI jwks,
            @Nullable Path jwksFile, @Nullable Path ca, @Nullable Path tokenFile,
            List<String> tokenHosts, List<String> algorithms, Duration clockSkew,
            boolean singleUse) {

        public Issuer {
            audiences = List.copyOf(audiences);
            tokenHosts = List.copyOf(tokenHosts);
            algorithms = List.copyOf(algorithms);
        }
    }

    /**
     * The authentication and authorization of callers.
     *
     * @param trustedPrincipal the principal of every caller; null unless the network is trusted
     * @param policy the policy file; null leaves permissions to the stores
     * @param sigV2 whether version 2 signatures are verified; otherwise they are refused
     */
    public record Access(AuthMode mode, @Nullable String trustedPrincipal,
            @Nullable Path policy, boolean sigV2) {}

    /** The methods of authentication. */
    public enum AuthMode {
        VERIFY,
        PASS_THROUGH,
        TRUSTED_NETWORK
    }

    /**
     * Registered memory.
     *
     * @param hugePages null for ordinary pages
     * @param pinLimit the part of the cacheable memory for pins
     * @param readAhead 0 bytes of window for none
     * @param tenants the tenants that have a quota or a floor
     * @param verify when corrupt bytes are detected
     * @param scrub the bytes verified each second in the background
     * @param disk the tier below the memory; null for none
     */
    public record Cache(ByteCount memory, ByteCount page, Percent reserve, boolean lock,
            @Nullable HugePageSize hugePages, ByteCount window, ByteCount run,
            int metadataEntries, Percent pinLimit, ReadAhead readAhead,
            Map<String, TenantQuota> tenants, Verify verify, ByteCount scrub,
            @Nullable Disk disk) {
        public Cache {
            tenants = Map.copyOf(tenants);
        }

        /** Returns the memory that the disk tier takes beside the cache. */
        public DiskMemory diskMemory() {
            return disk == null
                    ? DiskMemory.NONE
                    : DiskMemory.of(disk.paths().size(), disk.size().bytes(), (int) page.bytes());
        }
    }

    /**
     * The disk tier.
     *
     * @param paths files or devices, at least one
     * @param size of each
     * @param writesPerDay the most that is written a day to all of them once they are full; 0 for
     *            no limit
     * @param minObject smaller objects stay in memory only
     * @param tenants the tenants that have a quota or a floor, in bytes of all disks
     * @param keys wrap the tenants' keys; null for no encryption
     */
    public record Disk(List<String> paths, ByteCount size, ByteCount writesPerDay,
            ByteCount minObject, Map<String, TenantQuota> tenants, @Nullable WrappingKeys keys) {
        public Disk {
            paths = List.copyOf(paths);
            tenants = Map.copyOf(tenants);
        }
    }

    /** The time when a page's bytes are compared with its checksum. */
    public enum Verify {
        /** Verifies in the background only. */
        SCRUB,
        /** Verifies in the background, and before each read. */
        ALWAYS
    }

    /** The limits of read-ahead for one reader, and for a tenant. */
    public record ReadAhead(ByteCount window, ByteCount perTenant) {}

    /**
     * One entry of {@code backends:}.
     *
     * @param probeBucket the bucket for probes that write; null for probes that only read
     */
    public record Store(BackendConfig backend, @Nullable String probeBucket) {}

    /**
     * One-sided delivery.
     *
     * @param gidType the type of the adapters' addresses
     * @param dialects dialects served besides {@code x-amz-rdma-token}
     */
    public record Rdma(Loopback loopback, VerbsConfig verbs, DcConfig dc,
            GidType gidType, Advertise advertise, Channel channel,
            Duration decideTimeout,
            Duration fenceTimeout, PutDecline putDecline, Dialects.Served dialects,
            int maxSessionsPerPrincipal, Duration tokenAge, Pairs pairs) {

        /** Returns whether any fabric over RDMA adapters is enabled. */
        public boolean usesAdapters() {
            return verbs.enabled() || dc.enabled();
        }
    }

    /**
     * Queue pairs that are paired over HTTP.
     *
     * @param hipobj whether hipobj-rc-v2 is served
     * @param idle the time without a transfer after which a pair ends
     * @param staging the most memory that clients may write into, in all; 0 for none
     */
    public record Pairs(boolean hipobj, Duration idle, ByteCount staging) {}

    /**
     * The addresses that peers are told in place of the adapters' own.
     *
     * @param addresses empty for the adapters' own
     * @param port 0 for the listening port
     */
    public record Advertise(List<String> addresses, int port) {
        public Advertise {
            addresses = List.copyOf(addresses);
        }
    }

    /**
     * The native request channel, over every fabric.
     *
     * @param maxRequests the most unanswered requests of a session
     * @param keepAlive the longest interval between a peer's messages
     * @param requestTimeout from a request's arrival until its transfer is declined or fenced
     */
    public record Channel(int maxRequests, Duration keepAlive, Duration requestTimeout) {}

    /**
     * The loopback fabric of one host.
     *
     * @param named whether the file mentions it: then its absence stops the start; otherwise it is
     *            off
     * @param crossMemory whether processes may register private memory
     */
    public record Loopback(boolean enabled, Path socket, boolean crossMemory, boolean named) {}

    /** The response to a PUT whose token is declined. */
    public enum PutDecline {
        /** The status 501, as deployed clients expect. */
        FAIL_CLOSED,
        /** The draft specification's response. */
        SPEC
    }

    /**
     * The usage of tenants.
     *
     * @param rows the most pairs of a tenant and a bucket that are counted apart
     * @param prices null for no price list
     */
    public record Accounting(int rows, @Nullable Prices prices) {}

    /**
     * Status page and administration.
     *
     * @param tls null for plain HTTP
     */
    public record Admin(boolean enabled, ListenAddress listen, @Nullable Tls tls) {}

    /**
     * The configuration of logs.
     *
     * @param json whether the application's log has JSON lines
     * @param level of the application's log
     * @param access null for no access log
     */
    public record Log(boolean json, Level level, @Nullable AccessFile access) {}

    /**
     * The access log.
     *
     * @param path null for standard output
     * @param roll a file with more bytes is compressed and renamed
     */
    public record AccessFile(@Nullable Path path, ByteCount roll, int keepDays) {}

    /**
     * Traces of HTTP requests.
     *
     * @param endpoint a collector of OTLP over HTTP, without the path
     * @param sample the part of requests that are traced, among those that do not say it
     */
    public record Tracing(URI endpoint, Percent sample) {}
}
