package io.railhead.gateway.config;

import static java.util.Objects.requireNonNullElse;

import io.railhead.cache.CacheConfig;
import io.railhead.gateway.config.GatewayConfig.Access;
import io.railhead.gateway.config.GatewayConfig.AccessFile;
import io.railhead.gateway.config.GatewayConfig.Accounting;
import io.railhead.gateway.config.GatewayConfig.Admin;
import io.railhead.gateway.config.GatewayConfig.Admission;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.GatewayConfig.Events;
import io.railhead.gateway.config.GatewayConfig.Gateway;
import io.railhead.gateway.config.GatewayConfig.Log;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.gateway.config.GatewayConfig.ReadAhead;
import io.railhead.gateway.config.GatewayConfig.Store;
import io.railhead.gateway.config.GatewayConfig.Tracing;
import io.railhead.gateway.config.GatewayConfig.Verify;
import io.railhead.gateway.config.GatewayConfig.WebIdentity;
import io.railhead.os.HugePageSize;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Reads {@code railhead.yaml}. Every key and default is defined here, or in {@link StoreLoader},
 * {@link RuleLoader}, {@link RdmaLoader}, {@link VerbsLoader}, {@link DcLoader}, {@link TlsLoader},
 * {@link ClusterLoader} and {@link WebIdentityLoader}; relative paths start at the file's folder.
 */
public final class ConfigLoader {
    private static final long MIN_PAGE_BYTES = 64 << 10;
    private static final long MAX_PAGE_BYTES = 1 << 20;
    private static final int MAX_PIN_PERCENT = 80;
    private static final Duration LONGEST_WARM_UP = Duration.ofMinutes(1);
    /** The longest time whose milliseconds fit an int. */
    private static final Duration LONGEST_IDLE = Duration.ofDays(24);
    /**
     * The cache's timer scrubs a tenth of this at a time, which delays its other work by
     * milliseconds.
     */
    private static final long MAX_SCRUB_BYTES = 1 << 30;
    private static final Map<String, Verify> VERIFY = new TreeMap<>(
            Map.of("scrub", Verify.SCRUB, "always", Verify.ALWAYS));
    private static final Map<String, AuthMode> MODES = new TreeMap<>(Map.of(
            "verify", AuthMode.VERIFY,
            "pass_through", AuthMode.PASS_THROUGH,
            "trusted_network", AuthMode.TRUSTED_NETWORK));

    private static final Map<String, Boolean> FORMATS = new TreeMap<>(
            Map.of("text", false, "json", true));
    private static final Map<String, Level> LEVELS = new TreeMap<>(Map.of("error", Level.ERROR,
            "warn", Level.WARN, "info", Level.INFO, "debug", Level.DEBUG, "trace", Level.TRACE));

    private final Path folder;

    private ConfigLoader(Path folder) {
        this.folder = folder;
    }

    /**
     * Reads and checks the file; keys that are understood but not supported yet are refused too.
     */
    public static GatewayConfig load(Path file) throws ConfigException {
        return load(file, (path, kind, otherwise) -> {});
    }

    /** Parses content that has been read already; the path is for messages and folders. */
    public static GatewayConfig parse(Path file, byte[] content) throws ConfigException {
        Settings settings = new Settings((path, kind, otherwise) -> {});
        return new ConfigLoader(folder(file))
                .load(YamlFile.parse(file, content).heardBy(settings), settings);
    }

    private static Path folder(Path file) {
        return requireNonNullElse(file.toAbsolutePath().getParent(), file);
    }

    /** @param listener receives every key that such a file may have */
    static GatewayConfig load(Path file, Section.Listener listener) throws ConfigException {
        Settings settings = new Settings(listener);
        return new ConfigLoader(folder(file)).load(YamlFile.read(file).heardBy(settings), settings);
    }

    private GatewayConfig load(Section root, Settings settings) throws ConfigException {
        Gateway gateway = gateway(root.section("gateway"));
        Cache cache = cache(root.section("cache"), folder);
        Map<String, Store> stores = new StoreLoader(folder).load(root);
        Rules rules = new RuleLoader(stores.keySet(), gateway.sole(), cache).load(root);
        requireWhatRulesNeed(root, gateway.access(), rules);
        GatewayConfig.WriteBack writeBack = WriteBackLoader.load(root, gateway, rules);
        Rdma rdma = new RdmaLoader(folder).load(root.section("rdma"),
                cache.page());
        Admin admin = admin(root.section("admin"));
        Log log = log(root.section("log"));
        Tracing tracing = root.has("tracing") ? tracing(root.section("tracing")) : null;
        Accounting accounting = AccountingLoader.load(root.section("accounting"));
        AuditConfig audit = root.has("audit")
                ? new AuditLoader(folder).load(root.section("audit"))
                : null;
        GatewayConfig.Cluster cluster = new ClusterLoader(folder).load(root, gateway);
        root.close();
        ListenPorts.requireOwn(root, gateway, admin, cluster);
        return new GatewayConfig(gateway, cache, stores, rules, rdma, admin, log, tracing,
                accounting, audit, cluster, writeBack, settings.all(), settings.warnings());
    }

    private static void requireWhatRulesNeed(Section root, Access access, Rules rules)
            throws ConfigException {
        int cacheOnly = rules.first(Rule::isCacheOnly);
        if (access.policy() == null && cacheOnly >= 0) {
            throw root.problem("rules[" + cacheOnly + "].durability",
                    "none needs gateway.policy, the file that says who may do what");
        }
        int ofPolicy = rules.first(Rule::policyDecides);
        if (access.policy() == null && ofPolicy >= 0) {
            throw root.problem("rules[" + ofPolicy + "].authorization",
                    "policy needs gateway.policy, the file that says who may do what");
        }
        int verified = rules.first(Rule::verifyFills);
        if (access.mode() == AuthMode.PASS_THROUGH && verified >= 0) {
            throw root.problem("rules[" + verified + "].verify_fills", "needs a HEAD of the"
                    + " gateway's own, which it cannot sign under pass_through");
        }
    }

    private Gateway gateway(Section section) throws ConfigException {
        Gateway gateway = new Gateway(
                section.text("name", hostName()),
                section.value("listen", "0.0.0.0:9000", ListenAddress::parse),
                section.value("health", "0.0.0.0:9901", ListenAddress::parse),
                credentials(section),
                domains(section),
                section.duration("drain", "30s"),
                section.duration("warm_up", "0s"),
                section.bytes("max_header", "64KiB"),
                section.timeout("header_timeout", "10s"),
                section.timeout("idle_timeout", "60s"),
                section.bytes("min_rate", "1KiB"),
                admission(section.section("admission")),
                eventLoops(section),
                access(section),
                section.flag("sole", false),
                section.flag("allow_cleartext", false),
                new TlsLoader(folder).load(section, "tls"),
                new TlsLoader(folder).load(section, "health_tls"),
                events(section), webIdentity(section));
        section.close();
        if (gateway.maxHeader().bytes() < 4 << 10 || gateway.maxHeader().bytes() > 1 << 20) {
            throw section.problem("max_header", "must be 4KiB to 1MiB: " + gateway.maxHeader());
        }
        if (gateway.idleTimeout().compareTo(LONGEST_IDLE) > 0) {
            throw section.problem("idle_timeout", "must be at most 24d");
        }
        if (gateway.warmUp().compareTo(LONGEST_WARM_UP) > 0) {
            throw section.problem("warm_up", "must be at most 60s: it delays each start");
        }
        return gateway;
    }

    private static Admission admission(Section section) throws ConfigException {
        Admission admission = new Admission(section.count("requests", 0, 0, 1 << 24),
                section.bytes("bytes", "0"), section.count("connections", 0, 0, 1 << 24),
                TenantLoader.rates(section.section("rate")));
        section.close();
        return admission;
    }

    private @Nullable Events events(Section gateway) throws ConfigException {
        Section section = gateway.section("events");
        boolean enabled = section.flag("enabled", false);
        String file = section.text("token_file");
        section.close();
        if (!enabled) {
            return null;
        }
        if (file == null) {
            throw section.missing("token_file", "is missing; events need a token");
        }
        return new Events(existing(folder, section, "token_file", file));
    }

    private @Nullable WebIdentity webIdentity(Section section) throws ConfigException {
        WebIdentity webIdentity = new WebIdentityLoader(folder).load(section);
        AuthMode mode = section.choice("authentication", "verify", MODES);
        if (webIdentity != null && mode != AuthMode.VERIFY) {
            throw section.problem("web_identity",
                    "has no meaning without gateway.authentication: verify");
        }
        return webIdentity;
    }

    private Access access(Section section) throws ConfigException {
        AuthMode mode = section.choice("authentication", "verify", MODES);
        String policy = section.text("policy");
        if (mode == AuthMode.PASS_THROUGH && policy != null) {
            throw section.problem("policy", "cannot be held under gateway.authentication:"
                    + " pass_through, where only the stores know who asks");
        }
        return new Access(mode, trustedPrincipal(section, mode),
                policy == null ? null : existing(folder, section, "policy", policy),
                section.flag("sigv2", false));
    }

    private Path credentials(Section section) throws ConfigException {
        String name = section.text("credentials", "/etc/railhead/credentials.yaml");
        return section.choice("authentication", "verify", MODES) == AuthMode.PASS_THROUGH
                ? folder.resolve(name)
                : existing(folder, section, "credentials", name);
    }

    private static @Nullable String trustedPrincipal(Section gateway, AuthMode mode)
            throws ConfigException {
        Section trusted = gateway.section("trusted_network");
        String principal = trusted.text("principal");
        trusted.close();
        if (mode == AuthMode.TRUSTED_NETWORK && principal == null) {
            throw trusted.problem("principal",
                    "is missing; name the principal of credentials.yaml that every client is");
        }
        if (mode != AuthMode.TRUSTED_NETWORK && principal != null) {
            throw trusted.problem("principal",
                    "has no meaning without gateway.authentication: trusted_network");
        }
        return principal;
    }

    /** Returns the kernel's host name, without a resolver. */
    private static String hostName() {
        try {
            String name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
            return name.isEmpty() ? "railhead" : name;
        } catch (IOException e) {
            return "railhead";
        }
    }

    private static List<String> domains(Section section) throws ConfigException {
        List<String> domains = section.texts("domains")
                .stream()
                .map(domain -> domain.toLowerCase(Locale.ROOT))
                .toList();
        for (String domain : domains) {
            if (domain.isEmpty() || domain.startsWith(".") || domain.indexOf(':') >= 0) {
                throw section.problem("domains",
                        "'" + domain + "' is not a host name such as s3.rack1.example");
            }
        }
        return domains;
    }

    private static int eventLoops(Section section) throws ConfigException {
        int loops = section.count("event_loops", 0, 0, 1024);
        return loops == 0 ? Runtime.getRuntime().availableProcessors() : loops;
    }

    private static ReadAhead readAhead(Section section) throws ConfigException {
        ReadAhead readAhead = new ReadAhead(section.bytes("window", "64MiB"),
                section.bytes("per_tenant", "256MiB"));
        section.close();
        if (readAhead.perTenant().bytes() < readAhead.window().bytes()) {
            throw section.problem("per_tenant", "must hold at least one read_ahead.window of "
                    + readAhead.window());
        }
        return readAhead;
    }

    static Cache cache(Section section, Path folder) throws ConfigException {
        ByteCount memory = section.bytes("memory", "4GiB");
        ByteCount page = section.bytes("page", "256KiB");
        Percent reserve = section.value("reserve", "5%", Quantity::percent);
        boolean lock = section.flag("lock", false);
        HugePageSize hugePages = section.value("huge_pages", "off", ConfigLoader::hugePages);
        ByteCount window = section.bytes("window", "16MiB");
        ByteCount run = section.bytes("run", "8MiB");
        Cache cache = new Cache(memory, page, reserve, lock, hugePages, window, run,
                section.count("metadata_entries", 1_000_000, 1, Integer.MAX_VALUE),
                section.value("pin_limit", "50%", Quantity::percent),
                readAhead(section.section("read_ahead")),
                TenantLoader.tenants(section, CacheConfig.cacheableBytes(
                        memory.bytes() - reserve.of(memory.bytes()), run.bytes())),
                section.choice("verify", "scrub", VERIFY), section.bytes("scrub", "64MiB"),
                DiskLoader.load(section.section("disk"), folder));
        section.close();
        if (Long.bitCount(page.bytes()) != 1 || page.bytes() < MIN_PAGE_BYTES
                || page.bytes() > MAX_PAGE_BYTES) {
            throw section.problem("page", "must be 64KiB, 128KiB, 256KiB, 512KiB or 1MiB: " + page);
        }
        if (cache.reserve().value() > 50) {
            throw section.problem("reserve", "must be at most 50%");
        }
        if (cache.pinLimit().value() > MAX_PIN_PERCENT) {
            throw section.problem("pin_limit", "must be at most " + MAX_PIN_PERCENT + "%");
        }
        if (cache.scrub().bytes() > MAX_SCRUB_BYTES) {
            throw section.problem("scrub", "must be at most 1GiB: " + cache.scrub());
        }
        if (run.bytes() < page.bytes()) {
            throw section.problem("run", "must hold at least one cache.page of " + cache.page());
        }
        if (cache.window().bytes() < cache.run().bytes()) {
            throw section.problem("window", "must hold at least one cache.run of " + cache.run());
        }
        if (cache.memory().bytes() < 2 * cache.window().bytes()) {
            throw section.problem("memory",
                    "must hold at least two of cache.window, " + cache.window());
        }
        HugePageSize huge = cache.hugePages();
        if (huge != null && cache.memory().bytes() % huge.bytes() != 0) {
            throw section.problem("memory", "must be a multiple of " + huge
                    + " under cache.huge_pages: " + cache.memory());
        }
        return cache;
    }

    private static @Nullable HugePageSize hugePages(String text) {
        return switch (text) {
            case "off" -> null;
            case "2MiB" -> HugePageSize.MIB_2;
            case "1GiB" -> HugePageSize.GIB_1;
            default -> throw new IllegalArgumentException(
                    "'" + text + "' is not one of off, 2MiB, 1GiB");
        };
    }

    private Admin admin(Section section) throws ConfigException {
        Admin admin = new Admin(section.flag("enabled", true),
                section.value("listen", "127.0.0.1:9902", ListenAddress::parse),
                new TlsLoader(folder).load(section, "tls"));
        section.close();
        return admin;
    }

    private static Tracing tracing(Section section) throws ConfigException {
        String endpoint = section.requireText("endpoint");
        Percent sample = section.value("sample", "1%", Quantity::percent);
        section.close();
        try {
            URI uri = new URI(endpoint);
            boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (isHttp && uri.getHost() != null && uri.getPath().isEmpty()) {
                return new Tracing(uri, sample);
            }
            throw notACollector(section, endpoint);
        } catch (URISyntaxException e) {
            throw notACollector(section, endpoint);
        }
    }

    private static ConfigException notACollector(Section section, String endpoint) {
        return section.problem("endpoint",
                "'" + endpoint + "' is not an address such as http://collector:4318");
    }

    private Log log(Section section) throws ConfigException {
        Log log = new Log(section.choice("format", "text", FORMATS),
                section.choice("level", "info", LEVELS),
                section.has("access") ? accessFile(section.section("access")) : null);
        section.close();
        return log;
    }

    private AccessFile accessFile(Section section) throws ConfigException {
        String file = section.requireText("file");
        AccessFile access = new AccessFile(
                file.equals("stdout") ? null : folder.resolve(file),
                section.bytes("roll", "1GiB"),
                section.count("keep_days", 7, 1, 3650));
        section.close();
        Path path = access.path();
        Path parent = path == null ? null : path.getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw section.problem("file", "no such folder: " + parent);
        }
        return access;
    }

    /** Returns the path of a file that must exist. */
    static Path existing(Path folder, Section section, String key, String name)
            throws ConfigException {
        Path path = folder.resolve(name);
        if (!Files.isRegularFile(path)) {
            throw section.problem(key, "no such file: " + path);
        }
        if (!Files.isReadable(path)) {
            throw section.problem(key, "may not be read by this user: " + path);
        }
        return path;
    }
}
