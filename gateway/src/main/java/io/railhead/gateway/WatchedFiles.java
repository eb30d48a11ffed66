package io.railhead.gateway;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.AuditEvent;
import io.railhead.gateway.audit.AuditKind;
import io.railhead.gateway.audit.AuditStream;
import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.events.EventToken;
import io.railhead.gateway.frontdoor.TlsOptions;
import io.railhead.gateway.frontdoor.TlsPort;
import io.railhead.gateway.metrics.Metrics;
import io.vertx.core.Vertx;
import io.vertx.core.net.ServerSSLOptions;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Files that are read again when they change, with the counters of that. */
final class WatchedFiles {
    private final Metrics metrics;
    private final Map<String, String> refusals = new ConcurrentHashMap<>();
    private volatile Audit audit = Audit.OFF;
    private volatile @Nullable Instant certificateUntil;

    WatchedFiles(Metrics metrics) {
        this.metrics = metrics;
        // An alert needs a 0 before the first 1.
        for (String setting : List.of("credentials", "session_keys", "policy", "tls", "health_tls",
                "admin_tls", "cluster_tls", "events", "config")) {
            metrics.fileReloads.labels(setting, "refused");
            metrics.fileRefused.labels(setting);
        }
    }

    /** Sets the stream that learns of each reload. */
    void tell(Audit stream) {
        audit = stream;
    }

    /** Throws as a start would for an unusable file. Blocks. */
    static void requireUsable(GatewayConfig config) {
        GatewayConfig.Gateway gateway = config.gateway();
        requireUsable("gateway.tls", gateway.tls());
        requireUsable("gateway.health_tls", gateway.healthTls());
        requireUsable("admin.tls", config.admin().tls());
        GatewayConfig.Cluster cluster = config.cluster();
        requireUsable("cluster.tls", cluster == null ? null : cluster.tls());
        GatewayConfig.Events events = gateway.events();
        if (events != null) {
            FileWatch.start("gateway.events.token_file", List.of(events.tokenFile()),
                    new EventToken()::replace, _ -> {}).close();
        }
    }

    private static void requireUsable(String key, GatewayConfig.@Nullable Tls tls) {
        if (tls != null) {
            Vertx vertx = Vertx.vertx();
            try {
                FileWatch.start(key, TlsOptions.of(tls),
                        contents -> TlsOptions.options(vertx, key, contents), _ -> {}).close();
            } finally {
                ShutdownStack.await(vertx.close());
            }
        }
    }

    /** Throws as a start would for an audit stream that cannot be opened. Blocks. */
    static void requireUsable(@Nullable AuditConfig audit) {
        if (audit != null) {
            Vertx vertx = Vertx.vertx();
            try {
                AuditStream.requireUsable(audit, vertx);
            } finally {
                ShutdownStack.await(vertx.close());
            }
        }
    }

    /** Watches the certificate of the S3 port. */
    Optional<FileWatch> openTls(GatewayConfig.Gateway gateway, Vertx vertx, TlsPort port) {
        return openTls("tls", "gateway.tls", gateway.tls(), vertx, port,
                certificate -> certificateUntil = TlsOptions.until(certificate));
    }

    /** Watches the certificate of the health port. */
    Optional<FileWatch> openHealthTls(GatewayConfig.Gateway gateway, Vertx vertx, TlsPort port) {
        return openTls("health_tls", "gateway.health_tls", gateway.healthTls(), vertx, port,
                _ -> {});
    }

    /** Watches the certificate of the admin port. */
    Optional<FileWatch> openAdminTls(GatewayConfig.Admin admin, Vertx vertx, TlsPort port) {
        return openTls("admin_tls", "admin.tls", admin.tls(), vertx, port, _ -> {});
    }

    /**
     * Watches the certificate by which cluster members prove themselves.
     *
     * @param user takes it now, and each later one
     */
    FileWatch openClusterTls(GatewayConfig.Tls tls, Vertx vertx, Consumer<ServerSSLOptions> user) {
        return FileWatch.start("cluster.tls", TlsOptions.of(tls),
                contents -> user.accept(TlsOptions.options(vertx, "cluster.tls", contents)),
                refusal -> count("cluster_tls", refusal));
    }

    /**
     * Watches the TLS files: the first reading makes the port speak TLS, later ones change its
     * certificate.
     */
    private Optional<FileWatch> openTls(String setting, String key,
            GatewayConfig.@Nullable Tls files, Vertx vertx, TlsPort port,
            Consumer<byte[]> onCertificate) {
        return Optional.ofNullable(files)
                .map(tls -> FileWatch.start(key, TlsOptions.of(tls), contents -> {
                    port.use(TlsOptions.options(vertx, key, contents));
                    onCertificate.accept(contents.getFirst());
                }, refusal -> count(setting, refusal)));
    }

    FileWatch openToken(GatewayConfig.Events events, EventToken token) {
        return FileWatch.start("gateway.events.token_file", List.of(events.tokenFile()),
                token::replace, refusal -> count("events", refusal));
    }

    /**
     * Watches the configuration, and the authorities that it names. Reads the file once more at the
     * start, so that a change since the first reading is used.
     */
    FileWatch openConfig(Path file, Reload reload) {
        FileWatch watch = new FileWatch("configuration",
                () -> Stream.concat(Stream.of(file), reload.authorities()),
                contents -> reload.apply(ConfigLoader.parse(file, contents.getFirst())));
        watch.tell(refusal -> count("config", refusal));
        watch.loadOrWarn();
        watch.watch();
        return watch;
    }

    /** @param refusal why the current content is not in force; "" if it is */
    void count(String setting, String refusal) {
        boolean usable = refusal.isEmpty();
        metrics.fileReloads.labels(setting, usable ? "used" : "refused").inc();
        metrics.fileRefused.labels(setting).set(usable ? 0 : 1);
        audit.record((usable
                ? AuditEvent.accepted(AuditKind.RELOAD, "a changed file is in force")
                : AuditEvent.refused(AuditKind.RELOAD, "Refused", refusal))
                .on("setting", setting));
        if (usable) {
            refusals.remove(setting);
        } else {
            refusals.put(setting, refusal);
        }
    }

    /** Returns by setting why its files' current content is not in force. */
    Map<String, String> refusals() {
        return new TreeMap<>(refusals);
    }

    /** Returns when the listener's certificate expires; null without TLS. */
    @Nullable
    Instant certificateUntil() {
        return certificateUntil;
    }
}
