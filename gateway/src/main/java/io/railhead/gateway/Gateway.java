package io.railhead.gateway;

import static io.railhead.gateway.ShutdownStack.STEP;
import static io.railhead.gateway.ShutdownStack.await;
import static io.railhead.gateway.ShutdownStack.bound;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendStats;
import io.railhead.backend.Caller;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.Peers;
import io.railhead.cache.ReadAhead;
import io.railhead.cache.Verification;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.admin.AdminApi;
import io.railhead.gateway.admin.AdminCalls;
import io.railhead.gateway.admin.Drain;
import io.railhead.gateway.admin.FlushEndpoint;
import io.railhead.gateway.admin.MembersCall;
import io.railhead.gateway.admin.SecretMask;
import io.railhead.gateway.admin.SupportCall;
import io.railhead.gateway.admin.WriteBackCalls;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.AdmissionCollector;
import io.railhead.gateway.admission.HeapPressure;
import io.railhead.gateway.admission.HeapWatch;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.audit.AuditStream;
import io.railhead.gateway.audit.KeyChanges;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.PolicyFile;
import io.railhead.gateway.channel.ChannelLogs;
import io.railhead.gateway.channel.ChannelServer;
import io.railhead.gateway.channel.ChannelServices;
import io.railhead.gateway.channel.SessionCallers;
import io.railhead.gateway.cluster.ClusterPeers;
import io.railhead.gateway.cluster.PeerFills;
import io.railhead.gateway.config.AuditConfig;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.config.ListenAddress;
import io.railhead.gateway.config.Rules;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.events.EventEndpoint;
import io.railhead.gateway.events.EventToken;
import io.railhead.gateway.fill.Owners;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.freshness.Servability;
import io.railhead.gateway.frontdoor.AdminListener;
import io.railhead.gateway.frontdoor.CleartextPolicy;
import io.railhead.gateway.frontdoor.Connections;
import io.railhead.gateway.frontdoor.FrontDoor;
import io.railhead.gateway.frontdoor.HealthListener;
import io.railhead.gateway.frontdoor.Readiness;
import io.railhead.gateway.frontdoor.RejectedConnections;
import io.railhead.gateway.frontdoor.S3Listener;
import io.railhead.gateway.frontdoor.UnsignedEndpoint;
import io.railhead.gateway.identity.CredentialChange;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.ClusterCollector;
import io.railhead.gateway.metrics.DiskCollector;
import io.railhead.gateway.metrics.FabricCollector;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.metrics.NicCollector;
import io.railhead.gateway.metrics.StateCollector;
import io.railhead.gateway.metrics.WriteBackCollector;
import io.railhead.gateway.object.cacheonly.CacheOnlyCheck;
import io.railhead.gateway.object.cacheonly.CacheOnlyStore;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.object.writeback.WriteBack;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.PlacedStore;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.status.StatusPage;
import io.railhead.gateway.status.StatusSources;
import io.railhead.gateway.tracing.Tracing;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Fabrics;
import io.railhead.rdma.Health;
import io.railhead.rdma.session.ClientSessions;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.VertxInternal;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running gateway, which starts whole or not at all. Its parts stop in the reverse order (front
 * door, transfers, cache, memory), so that memory outlives everything that may touch it. Starting
 * and stopping block: call from an ordinary thread.
 *
 * <p> A long class: the one place that knows every part, and the order of their starts.
 */
public final class Gateway implements AutoCloseable, Readiness {
    private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);
    private static final Duration LONGEST_PROBE = Duration.ofSeconds(5);
    private static final Duration PENDING_SESSION_LIFE = Duration.ofSeconds(10);
    private static final int MAX_PENDING_SESSIONS = 256;
    /** The part of the memory that pages may take which other members keep as their own. */
    private static final int GUESTS_PART = 8;

    /**
     * The configuration at the start; {@link #reload} has the current values of reloadable keys.
     */
    private final GatewayConfig config;
    private final ShutdownStack shutdownStack = new ShutdownStack();
    private final Metrics metrics = new Metrics();
    private final Drain drain = new Drain(metrics.inFlight);
    private final WatchedFiles files = new WatchedFiles(metrics);
    private final List<Executor> eventLoops = new ArrayList<>();
    private final Vertx vertx;
    private final HttpServer health;
    private final AccessLog accessLog;
    /** Null if no stream is configured. */
    private final @Nullable AuditStream auditStream;
    private final Audit audit;
    private final PageMemory memory;
    /** Null without a disk tier. */
    private @Nullable DiskTier disks;
    /** Null for a gateway whose cache is its own. */
    private final @Nullable ClusterPeers peers;
    private final ObjectCache cache;
    private final CacheOnlyStore cacheOnly;
    /** Null if every write is acknowledged by its store. */
    private final @Nullable WriteBack writeBack;
    private final Tracing tracing;
    private final Routes routes;
    private final Reload reload;
    private final S3Listener listener;
    private final @Nullable HttpServer admin;
    private final FabricOpening opening;
    private volatile boolean serving;

    private Gateway(GatewayConfig config, CredentialStore credentials,
            Environment environment) {
        this.config = config;
        LongSupplier nanoClock = environment.nanoClock();
        try {
            CleartextPolicy.require(config, credentials.areOfSeveralTenants());
            metrics.usage.limit(config.accounting().rows());
            metrics.usage.price(config.accounting().prices());
            tracing = opened(new Tracing(config.gateway().name(), metrics.spans));
            vertx = openVertx();
            shutdownStack.push(() -> await(vertx.close()));
            ((VertxInternal) vertx).eventLoopGroup().forEach(eventLoops::add);
            HealthListener healthListener = new HealthListener(vertx, metrics, this);
            files.openHealthTls(config.gateway(), vertx, healthListener).ifPresent(this::opened);
            health = bound("gateway.health", config.gateway().health(),
                    healthListener.listen(config.gateway().health().host(),
                            config.gateway().health().port()));
            auditStream = openAudit(credentials);
            audit = auditStream == null ? Audit.OFF : auditStream;
            files.tell(audit);
            accessLog = opened(AccessLog.open(config.log(), metrics.lostLogLines));
            ClientSessions clientSessions = new ClientSessions(PENDING_SESSION_LIFE,
                    MAX_PENDING_SESSIONS,
                    config.rdma().maxSessionsPerPrincipal());
            ChannelServer requests = new ChannelServer(vertx, metrics,
                    new ChannelLogs(accessLog, audit, tracing));
            opening = new FabricOpening(config, clientSessions, requests, environment,
                    credentials.areOfSeveralTenants(), this::memberEndpoints);
            Fabrics fabrics = opening.fabrics();
            memory = openMemory(fabrics);
            peers = openCluster(environment);
            cache = openCache(nanoClock);
            cacheOnly = new CacheOnlyStore(cache, nanoClock, InstantSource.system(),
                    new SecureRandom().nextLong());
            OpenStores openStores = opened(new OpenStores(metrics.backendSeconds));
            writeBack = WriteBackOpening.open(config, cache.writes(), credentials, nanoClock);
            routes = openRoutes(openStores);
            if (peers != null) {
                join(peers);
            }
            metrics.register(new StateCollector(memory, cache, routes::backends));
            metrics.register(new FabricCollector(fabrics.all()));
            metrics.register(new NicCollector(config.rdma()));
            AuthorizationCache authorizationCache = new AuthorizationCache(nanoClock, cache,
                    metrics);
            credentials.tell(refusal -> files.count("credentials", refusal));
            credentials.tellOfKeys(refusal -> files.count("session_keys", refusal));
            credentials.onChange(change -> KeyChanges.tell(change, audit));
            credentials.onChange(change -> revoke(change, authorizationCache, clientSessions));
            HeapPressure heap = new HeapPressure(HeapWatch::heldAfterCollection,
                    System::nanoTime, sheddingOf(cache, authorizationCache));
            opened(new HeapWatch(heap));
            Admission admission = new Admission(MachineLimits.of(config), heap::refusesRequests,
                    metrics.refused, metrics.rateLimited, nanoClock);
            admission.limit(config.gateway().admission().rates());
            Connections connections = new Connections(MachineLimits.connections(config),
                    new RejectedConnections(metrics.closedConnections, System::nanoTime));
            metrics.register(new AdmissionCollector(admission, connections::open,
                    connections::limit, heap));
            SessionCallers callers = new SessionCallers();
            AccessControl access = new AccessControl(openPolicy(), metrics);
            PeerFills fills = peerFills(environment);
            ReadServices reads = readServices(fabrics, authorizationCache, nanoClock,
                    fills == null ? Owners.NONE : fills);
            if (fills != null) {
                openFills(fills, reads, credentials);
            }
            requests.open(new ChannelServices(reads.withDeadlines(
                    RdmaDeadlines.ofChannel(config.rdma().channel().requestTimeout())), routes,
                    credentials, callers, access, admission, config.cache().window().bytes()));
            listener = new FrontDoorOpening(config, credentials, routes, access, reads,
                    clientSessions, opening)
                    .open(vertx, connections, admission, callers,
                            new FrontDoor.Logs(metrics, accessLog, audit),
                            new FrontDoorOpening.Given(new FlushEndpoint(writeBack),
                                    unsignedEndpoints()),
                            nanoClock)
                    .leavingWhile(drain::isOn)
                    .tracedWhile(tracing::isOn);
            reload = new Reload(config, new Reload.Parts(openStores, routes, requests, admission,
                    connections, tracing, metrics.usage, nanoClock,
                    fresh -> {
                        fresh.forEach(store -> probe(store, credentials.anyAtStore()));
                        checkCacheOnly(credentials.anyAtStore());
                    }, writeBack));
            files.openTls(config.gateway(), vertx, listener).ifPresent(this::opened);
            admin = config.admin().enabled()
                    ? openAdmin(status(fabrics, connections, credentials), credentials, reads,
                            access)
                    : null;
            // The last step that can fail, and the first to stop: no request is admitted in
            // between.
            bound("gateway.listen", config.gateway().listen(),
                    listener.listen(config.gateway().listen().host(),
                            config.gateway().listen().port(),
                            config.gateway().eventLoops()));
            shutdownStack.push(() -> await(listener.drain(config.gateway().drain()),
                    config.gateway().drain().plus(STEP)));
            shutdownStack.push(() -> requests.drain(config.gateway().drain()));
            showEndpoint(environment);
        } catch (RuntimeException | Error e) {
            // Also after an Error: threads that run would keep a process alive that serves nobody.
            shutdownStack.stop(e);
            throw e;
        }
        CompletionStage<?> probed = probeBackends(credentials.anyAtStore());
        checkCacheOnly(credentials.anyAtStore());
        serving = true;
        // In the background: nothing waits for this memory, and the start needs every core.
        probed.whenComplete((_, _) -> memory.takeRest());
    }

    /** Starts a gateway and waits until it serves; throws one line with the reason of a failure. */
    public static Gateway start(GatewayConfig config, CredentialStore credentials) {
        return start(config, credentials, Environment.REAL);
    }

    static Gateway start(GatewayConfig config, CredentialStore credentials,
            Environment environment) {
        return new Gateway(config, credentials, environment);
    }

    private <T extends AutoCloseable> T opened(T part) {
        return shutdownStack.opened(part);
    }

    private @Nullable AuditStream openAudit(CredentialStore credentials) {
        AuditConfig settings = config.audit();
        return settings == null
                ? null
                : opened(AuditStream.open(settings, config.gateway().name(), vertx, metrics,
                        claim -> credentials.findOwner(claim.accessKeyId(),
                                claim.sessionToken() == null
                                        ? null
                                        : claim.sessionToken().reveal())));
    }

    private @Nullable PolicyFile openPolicy() {
        Path path = config.gateway().access().policy();
        if (path == null) {
            return null;
        }
        try {
            PolicyFile policy = opened(PolicyFile.load(path));
            policy.tell(refusal -> files.count("policy", refusal));
            policy.watch();
            return policy;
        } catch (ConfigException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /**
     * Opens the memory. Slabs join the fabric as they are mapped. The fabric is closed before they
     * are unmapped, after cut connections have released their pages. All slabs but the first come
     * later, since a start needs its cores.
     */
    private PageMemory openMemory(Fabric fabric) {
        try {
            PageMemory first = opened(
                    PageMemory.openFirst(memoryConfig(config), fabric::register));
            shutdownStack.push(() -> ShutdownStack.until(() -> first.stats().leases() == 0));
            return first;
        } finally {
            opened(fabric);
        }
    }

    /** Opens the cache over its disks, which are closed after it, and before the memory. */
    private ObjectCache openCache(LongSupplier nanoClock) {
        ObjectCache.Lower lower = DiskOpening.open(config, nanoClock);
        if (lower != null) {
            disks = opened(lower.disk());
            metrics.register(new DiskCollector(lower.disk()::stats));
        }
        return opened(new ObjectCache(memory, cacheConfig(), nanoClock, lower,
                peers == null ? Peers.NONE : peers));
    }

    /** Returns a member that joins once there is a cache. */
    private @Nullable ClusterPeers openCluster(Environment environment) {
        ClusterOpening clusterOpening = clusterOpening(environment);
        return clusterOpening == null ? null : clusterOpening.open(this::opened);
    }

    private @Nullable ClusterOpening clusterOpening(Environment environment) {
        GatewayConfig.Cluster cluster = config.cluster();
        return cluster == null
                ? null
                : new ClusterOpening(config, cluster, environment, files, vertx);
    }

    /** Tells the other members where clients reach this gateway, now that it serves them. */
    private void showEndpoint(Environment environment) {
        ClusterOpening clusterOpening = clusterOpening(environment);
        if (clusterOpening != null && peers != null) {
            peers.serveAt(clusterOpening.endpoint(port()));
        }
    }

    private Map<String, String> memberEndpoints() {
        return peers == null ? Map.of() : peers.endpoints();
    }

    /**
     * Joins before anybody is served: a gateway that is alone serves what others write meanwhile.
     * Leaves after the last request, and before the cache is closed.
     */
    private void join(ClusterPeers member) {
        opened(member).join(cache);
        metrics.register(new ClusterCollector(member::state));
    }

    /** Returns the way to other members' pages, not opened yet; null if nothing is shared out. */
    private @Nullable PeerFills peerFills(Environment environment) {
        GatewayConfig.Cluster cluster = config.cluster();
        return cluster == null || cluster.fills() == null || peers == null
                ? null
                : new PeerFills(vertx, peers, routes, metrics, config.cache().run().bytes(),
                        environment.ownersWait());
    }

    private void openFills(PeerFills fills, ReadServices reads, CredentialStore credentials) {
        GatewayConfig.Cluster cluster = config.cluster();
        ListenAddress address = cluster == null ? null : cluster.fills();
        if (cluster != null && address != null) {
            new FillsOpening(cluster, address, files, vertx)
                    .open(fills, reads, credentials, routes, shutdownStack);
        }
    }

    /** Returns the most bytes of pages that other members keep as their own. */
    private long guestBytes() {
        GatewayConfig.Cluster cluster = config.cluster();
        return cluster == null || cluster.fills() == null
                ? 0
                : config.cache().memory().bytes() / GUESTS_PART;
    }

    static MemoryConfig memoryConfig(GatewayConfig config) {
        GatewayConfig.Cache settings = config.cache();
        return new MemoryConfig(settings.memory().bytes(), (int) settings.page().bytes(),
                settings.reserve().value() / 100.0,
                settings.lock(), settings.hugePages());
    }

    private CacheConfig cacheConfig() {
        GatewayConfig.Cache settings = config.cache();
        return new CacheConfig(settings.window().bytes(), settings.run().bytes(),
                CacheConfig.DEFAULT.shortageWait(),
                settings.metadataEntries(), settings.pinLimit().value() / 100.0,
                new ReadAhead.Limits(settings.readAhead().window().bytes(),
                        settings.readAhead().perTenant().bytes()),
                settings.tenants(),
                new Verification(settings.verify() == GatewayConfig.Verify.ALWAYS,
                        settings.scrub().bytes()),
                guestBytes());
    }

    private Routes openRoutes(OpenStores openStores) {
        OpenStores.Change first = openStores.open(config.backends());
        first.eventLoops().forEach(eventLoops::add);
        Routes opened = new Routes(new Routes.Table(config.rules(), first.placed()), metrics.usage,
                cacheOnly, writeBack);
        first.done();
        if (writeBack != null) {
            opened(writeBack).start(name -> {
                PlacedStore store = opened.table().stores().get(name);
                return store == null ? null : store.backend();
            });
            metrics.register(new WriteBackCollector(writeBack::stats));
        }
        return opened;
    }

    private Vertx openVertx() {
        tracing.use(config.tracing());
        return Vertx.builder()
                .with(new VertxOptions().setPreferNativeTransport(true)
                        .setEventLoopPoolSize(config.gateway().eventLoops()))
                .withTracer(tracing.factory())
                .build();
    }

    private static HeapPressure.Actions sheddingOf(ObjectCache cache,
            AuthorizationCache authorizationCache) {
        return new HeapPressure.Actions() {
            @Override
            public void stopCaching() {
                cache.stopKeeping();
                authorizationCache.rememberFew();
            }

            @Override
            public void resumeCaching() {
                cache.resumeKeeping();
                authorizationCache.rememberMany();
            }

            @Override
            public void collect() {
                System.gc();
            }
        };
    }

    private StatusPage status(Fabrics fabrics, Connections connections,
            CredentialStore credentials) {
        return new StatusPage(vertx, new StatusSources(() -> reload.config(), this, metrics,
                memory, cache, routes::backends, fabrics.all(), disks,
                peers == null ? null : peers::state,
                new StatusSources.OwnFacts(connections::open, connections::limit,
                        () -> credentials.principals().size(), files::certificateUntil,
                        files::refusals)));
    }

    private AdminApi adminCalls(StatusPage status, CredentialStore credentials,
            ReadServices reads, AccessControl access) {
        SupportCall support = new SupportCall(
                new SupportParts(() -> reload.config(), metrics, status).byName(),
                new SecretMask(credentials::secrets));
        boolean verifies = config.gateway().access().mode() != AuthMode.PASS_THROUGH;
        return opened(AdminCalls.api(verifies ? new Authenticator(credentials) : null, reads,
                routes, access, new AdminCalls.Operators(drain, audit, support,
                        new MembersCall(config.gateway().name(),
                                peers == null ? null : peers::state),
                        new WriteBackCalls(writeBack))));
    }

    private HttpServer openAdmin(StatusPage status, CredentialStore credentials,
            ReadServices reads, AccessControl access) {
        Map<String, Handler<HttpServerRequest>> paths = new HashMap<>(status.paths());
        paths.putAll(adminCalls(status, credentials, reads, access).paths());
        AdminListener listening = new AdminListener(vertx, metrics, paths);
        files.openAdminTls(config.admin(), vertx, listening).ifPresent(this::opened);
        return bound("admin.listen", config.admin().listen(),
                listening.listen(config.admin().listen().host(),
                        config.admin().listen().port()));
    }

    private ReadServices readServices(Fabric fabric, AuthorizationCache authorizationCache,
            LongSupplier nanoClock, Owners owners) {
        RdmaDeadlines deadlines = new RdmaDeadlines(config.rdma().decideTimeout(),
                config.rdma().fenceTimeout());
        return new ReadServices(vertx, new Servability(cache, authorizationCache, nanoClock),
                new NegativeCache(nanoClock, cache), new Revalidations(), new Relay(metrics),
                fabric, deadlines, metrics, config.cache().page().bytes(),
                config.cache().run().bytes(), owners);
    }

    private Map<String, UnsignedEndpoint> unsignedEndpoints() {
        GatewayConfig.Events events = config.gateway().events();
        if (events == null) {
            return Map.of();
        }
        EventToken token = new EventToken();
        opened(files.openToken(events, token));
        return Map.of("events",
                new EventEndpoint(token, cache, routes::backendNames, metrics));
    }

    private static void revoke(CredentialChange change, AuthorizationCache authorizationCache,
            ClientSessions clientSessions) {
        Set<String> names = new HashSet<>(change.vanished());
        names.addAll(change.changed());
        names.forEach(clientSessions::revoke);
        authorizationCache.revokeAll(names);
    }

    /**
     * Probes the stores in the background: an unreachable store delays no start. Completes when all
     * have responded or failed.
     */
    private CompletionStage<?> probeBackends(@Nullable Caller caller) {
        return CompletableFuture.allOf(routes.backends()
                .stream()
                .map(store -> probe(store, caller).toCompletableFuture())
                .toArray(CompletableFuture[]::new))
                .orTimeout(LONGEST_PROBE.toSeconds(), TimeUnit.SECONDS);
    }

    private CompletionStage<?> probe(Backend backend, @Nullable Caller caller) {
        GatewayConfig.Store store = reload.config().backends().get(backend.name());
        if (caller == null || store == null) {
            return CompletableFuture.completedStage(null);
        }
        return backend.probe(store.probeBucket(), caller)
                .whenComplete((found, failure) -> LOG.info("backend {}: {}", backend.name(),
                        failure == null ? found : "not probed: " + failure.getMessage()));
    }

    /**
     * Looks in the background for buckets of stores that a rule makes cache-only: the rule must not
     * be used for them. Objects of buckets that no rule makes cache-only any more are dropped.
     */
    private void checkCacheOnly(@Nullable Caller caller) {
        Rules rules = routes.table().rules();
        long check = cacheOnly.beginCheck(routes.backendNames());
        cacheOnly.keepOnly(routes::isCacheOnly);
        if (!rules.haveCacheOnly() || caller == null) {
            return;
        }
        routes.backends()
                .forEach(store -> CacheOnlyCheck.bucketsOf(store, caller)
                        .thenAccept(found -> found.ifPresent(
                                buckets -> refuse(check, store, rules, buckets))));
    }

    private void refuse(long check, Backend store, Rules rules, Set<String> buckets) {
        Set<String> refused = new HashSet<>(buckets);
        refused.removeIf(bucket -> !rules.mayBeCacheOnly(bucket));
        refused.forEach(bucket -> LOG.error("store {} has the bucket {}: it is not served, since"
                + " a rule says durability: none", store.name(), bucket));
        cacheOnly.refuse(check, store.name(), refused);
    }

    /** Reads the file again when it changes, until this is closed. */
    public FileWatch follow(Path file) {
        return opened(files.openConfig(file, reload));
    }

    /**
     * Puts another configuration into force, whole or not at all. Blocks.
     *
     * @throws ConfigException if it cannot be used, or needs a restart
     */
    void reload(GatewayConfig next) throws ConfigException {
        reload.apply(next);
    }

    @Override
    public String reasonNotReady() {
        if (!serving) {
            return "starting or draining";
        }
        return drain.isOn()
                ? "draining, as an administrator asked"
                : auditStream == null ? "" : auditStream.reasonNotReady();
    }

    @Override
    public List<String> stores() {
        return serving ? routes.backends().stream().map(Gateway::state).toList() : List.of();
    }

    @Override
    public List<String> fabrics() {
        return serving
                ? opening.fabrics().all().stream().map(Gateway::state).toList()
                : List.of();
    }

    private static String state(Fabric fabric) {
        Health now = fabric.health();
        return "fabric " + fabric.name()
                + (now.usable() ? " is usable" : " is unusable: " + now.reason());
    }

    private static String state(Backend store) {
        BackendStats stats = store.stats();
        return "store " + store.name() + (store.isReachable() ? " answers: " : " is out: ")
                + stats.healthyEndpoints() + " of " + stats.endpoints() + " endpoints";
    }

    public int port() {
        return listener.port();
    }

    public int healthPort() {
        return health.actualPort();
    }

    /** Returns 0 if the port is not enabled. */
    public int adminPort() {
        return admin == null ? 0 : admin.actualPort();
    }

    /** Describes every listener and fabric for an operator. */
    String inWords() {
        return "S3 on " + at(config.gateway().listen(), port())
                + (config.gateway().tls() == null ? "" : " over TLS") + ", health and metrics on "
                + at(config.gateway().health(), healthPort())
                + (admin == null ? "" : ", admin on " + at(config.admin().listen(), adminPort()))
                + "; " + opening.inWords();
    }

    private static String at(ListenAddress address, int port) {
        return address.host() + ":" + port;
    }

    public PageMemory memory() {
        return memory;
    }

    /** Returns the event loops of requests and of stores' responses. */
    Iterable<? extends Executor> eventLoops() {
        return eventLoops;
    }

    /**
     * Stops the gateway: it is not ready at once, and requests under way may finish within the
     * drain time. Meanwhile the other members own what it owned, and ask it first.
     */
    @Override
    public void close() {
        serving = false;
        if (peers != null) {
            peers.leave();
        }
        RuntimeException failure = new RuntimeException("not everything could be stopped");
        shutdownStack.stop(failure);
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
