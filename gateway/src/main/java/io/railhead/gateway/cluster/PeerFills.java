package io.railhead.gateway.cluster;

import io.railhead.backend.FetchTurn;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.PageSource;
import io.railhead.cache.WholeChecksum;
import io.railhead.cluster.ClusterConfig;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.fill.Owners;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.PlacedStore;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The other members as sources of fills: each run is asked for at its owner first. The owner itself
 * asks the member that owned the run before. Only a version that the request has proved is asked
 * for, so a member judges neither freshness nor permission.
 *
 * <p> Two members may think each other the owner of a run while their views differ. So a member
 * that is itself asking for a run refuses it to others: see {@link #isAsking}. Any thread.
 */
public final class PeerFills implements Owners, AutoCloseable {
    /**
     * The time in which an owner that is still seen sends any more of it: the store may be slow,
     * and fetches wait for their turn.
     */
    static final long STALL_MILLIS = 30_000;
    private static final long GREETING_MILLIS = 1_000;
    private static final int UPDATE_SECONDS = 30;
    private static final int CONNECTIONS = 64;
    /** The time for which a member that did not answer is left alone. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Vertx vertx;
    private final ClusterPeers peers;
    private final Routes routes;
    private final Metrics metrics;
    private final long runBytes;
    private final long headMillis;
    private final HttpClientOptions options = new HttpClientOptions().setKeepAlive(true)
            .setTracingPolicy(TracingPolicy.IGNORE)
            .setTcpNoDelay(true);
    private final Map<Run, Integer> asking = new ConcurrentHashMap<>();
    private final Map<ClusterConfig.Address, Long> resting = new ConcurrentHashMap<>();
    private final PreviousOwners previous = new PreviousOwners(System::nanoTime);
    /** Members to which a first connection was opened, or is being opened. */
    private final Set<ClusterConfig.Address> greeted = ConcurrentHashMap.newKeySet();
    private volatile @Nullable HttpClientAgent client;

    /** A run of one version, as this gateway names it. */
    private record Run(ObjectVersion version, long index) {}

    /** @param headWait the time in which an owner begins its answer */
    public PeerFills(Vertx vertx, ClusterPeers peers, Routes routes, Metrics metrics,
            long runBytes, Duration headWait) {
        this.vertx = vertx;
        this.peers = peers;
        this.routes = routes;
        this.metrics = metrics;
        this.runBytes = runBytes;
        this.headMillis = headWait.toMillis();
        options.setConnectTimeout((int) (headMillis / 2))
                .setSslHandshakeTimeout(headMillis / 2)
                .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS);
    }

    /** Uses a certificate: the first before {@link #open}, later ones for new connections. */
    public void use(ServerSSLOptions tls) {
        HttpClientAgent opened = client;
        if (opened == null) {
            // Names in certificates do not count: the authority signs members alone.
            options.setSsl(true)
                    .setVerifyHost(false)
                    .setKeyCertOptions(tls.getKeyCertOptions())
                    .setTrustOptions(tls.getTrustOptions())
                    .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
            return;
        }
        ClientSSLOptions later = new ClientSSLOptions().setHostnameVerificationAlgorithm("");
        later.setSslHandshakeTimeout(headMillis / 2)
                .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
                .setKeyCertOptions(tls.getKeyCertOptions())
                .setTrustOptions(tls.getTrustOptions())
                .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
        try {
            opened.updateSSLOptions(later, true).await(UPDATE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception | Error e) {
            throw new IllegalArgumentException("cluster.tls: " + e.getMessage(), e);
        }
    }

    /** Asks members from now on. */
    public PeerFills open() {
        HttpClientAgent opened = vertx.createHttpClient(options,
                new PoolOptions().setHttp1MaxSize(CONNECTIONS));
        client = opened;
        vertx.setPeriodic(GREETING_MILLIS, timer -> {
            if (opened.equals(client)) {
                greet(opened);
            } else {
                vertx.cancelTimer(timer);
            }
        });
        return this;
    }

    /**
     * Opens a connection to each member that is new, before a reader needs it. The first handshake
     * of two young processes takes longer than an owner has for its answer.
     */
    private void greet(HttpClientAgent opened) {
        Set<ClusterConfig.Address> present = peers.fills();
        greeted.retainAll(present);
        for (ClusterConfig.Address member : present) {
            if (greeted.add(member)) {
                opened.request(HttpMethod.GET, member.port(), member.host(), FillPort.PATH)
                        .compose(HttpClientRequest::send)
                        .compose(HttpClientResponse::end)
                        .onFailure(_ -> greeted.remove(member));
            }
        }
    }

    @Override
    public PageSource before(PageSource store, S3Request request, FetchTurn turn) {
        return isShared(request)
                ? new OwnersFirst(store, previousBefore(store, request, turn), request, turn)
                : store;
    }

    /**
     * Returns a source of runs that this gateway owns. The owner of before is asked first for what
     * it holds, and the store for the rest.
     */
    PageSource previousBefore(PageSource store, S3Request request, FetchTurn turn) {
        return new PreviousFirst(store, request, turn);
    }

    @Override
    public boolean isElsewhere(S3Request request, long offset) {
        return isShared(request)
                && (ownerOf(request, offset) != null || previousOwnerOf(request, offset) != null);
    }

    /**
     * Returns whether members know the request's store as this gateway does, and can ask it in the
     * principal's name. They have compared the stores of the start alone.
     */
    private boolean isShared(S3Request request) {
        return client != null && isShared(request.route().rule())
                && !(request.authentication() instanceof Authentication.PassedThrough)
                && isOfStart(routes.table().stores().get(request.route().backend().name()));
    }

    /**
     * Returns whether a rule lets members give each other pages. An owner cannot compare them with
     * the store's checksum of the whole object, as {@code verify_fills} asks.
     */
    static boolean isShared(Rule rule) {
        return !rule.isCacheOnly() && !rule.verifyFills();
    }

    static boolean isOfStart(@Nullable PlacedStore store) {
        return store != null && store.era().isEmpty();
    }

    private ClusterConfig.@Nullable Address ownerOf(S3Request request, long offset) {
        Address address = request.address();
        return peers.ownerOf(request.route().backend().name(), String.valueOf(address.bucket()),
                address.key(), offset / runBytes);
    }

    /** Returns null for one that is left alone, too. */
    private ClusterConfig.@Nullable Address previousOwnerOf(S3Request request, long offset) {
        Address address = request.address();
        ClusterConfig.Address found = peers.previousOwnerOf(request.route().backend().name(),
                String.valueOf(address.bucket()), address.key(), offset / runBytes);
        return found == null || previous.isResting(found) ? null : found;
    }

    /**
     * Returns whether this gateway waits for another member's bytes of the run. A fill that another
     * member joined here would then wait for that member's own.
     */
    boolean isAsking(ObjectVersion version, long offset) {
        return asking.containsKey(new Run(version, offset / runBytes));
    }

    /** Fetches from the owner first; from the owner of before where this gateway owns the run. */
    private final class OwnersFirst implements PageSource {
        private final PageSource store;
        private final PageSource owned;
        private final S3Request request;
        private final FetchTurn turn;

        OwnersFirst(PageSource store, PageSource owned, S3Request request, FetchTurn turn) {
            this.store = store;
            this.owned = owned;
            this.request = request;
            this.turn = turn;
        }

        @Override
        public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
            ClusterConfig.Address owner = ownerOf(request, offset);
            HttpClientAgent asked = client;
            if (owner == null) {
                owned.fetch(version, offset, length, sink);
                return;
            }
            if (asked == null || isResting(owner)) {
                store.fetch(version, offset, length, sink);
                return;
            }
            Run run = new Run(version, offset / runBytes);
            FillRequest question = FillRequest.of(request, version, offset, length, turn);
            asking.merge(run, 1, Integer::sum);
            start(asked, PeerFetch.Asked.OWNER, owner, question, sink,
                    new Rest(owner, done -> store.fetch(version, offset + done, length - done,
                            sink)) {
                        @Override
                        public void ended(PeerFetch.Result result, long doneBytes) {
                            asking.computeIfPresent(run,
                                    (_, count) -> count == 1 ? null : count - 1);
                            PeerFills.this.ended(owner, result, doneBytes);
                        }
                    });
        }

        @Override
        public @Nullable WholeChecksum checksum(ObjectVersion version) {
            return store.checksum(version);
        }
    }

    /**
     * Fetches from the owner of before. It waits for nobody, so runs that it is asked for need no
     * note in {@link #asking}.
     */
    private final class PreviousFirst implements PageSource {
        private final PageSource store;
        private final S3Request request;
        private final FetchTurn turn;

        PreviousFirst(PageSource store, S3Request request, FetchTurn turn) {
            this.store = store;
            this.request = request;
            this.turn = turn;
        }

        @Override
        public void fetch(ObjectVersion version, long offset, long length, Sink sink) {
            ClusterConfig.Address before = previousOwnerOf(request, offset);
            HttpClientAgent asked = client;
            if (before == null || asked == null) {
                store.fetch(version, offset, length, sink);
                return;
            }
            FillRequest question = FillRequest.of(request, version, offset, length, turn);
            start(asked, PeerFetch.Asked.PREVIOUS_OWNER, before, question, sink,
                    new Rest(before, done -> store.fetch(version, offset + done, length - done,
                            sink)) {
                        @Override
                        public void ended(PeerFetch.Result result, long doneBytes) {
                            count(PeerFetch.Asked.PREVIOUS_OWNER, result, doneBytes);
                            previous.ended(before, result, doneBytes);
                        }
                    });
        }

        @Override
        public @Nullable WholeChecksum checksum(ObjectVersion version) {
            return store.checksum(version);
        }
    }

    /** The store's part of a fetch, which a member has begun. */
    private abstract class Rest implements PeerFetch.Ending {
        private final ClusterConfig.Address member;
        private final LongConsumer store;

        /** @param store fetches from there what follows so many bytes */
        Rest(ClusterConfig.Address member, LongConsumer store) {
            this.member = member;
            this.store = store;
        }

        @Override
        public boolean isThere() {
            return peers.isThere(member);
        }

        @Override
        public void rest(long doneBytes) {
            store.accept(doneBytes);
        }
    }

    private void start(HttpClientAgent asked, PeerFetch.Asked who, ClusterConfig.Address member,
            FillRequest question, PageSource.Sink sink, PeerFetch.Ending ending) {
        Context context = vertx.getOrCreateContext();
        PeerFetch fetch = new PeerFetch(vertx, asked, new PeerFetch.Member(who, member),
                headMillis, question, sink, ending);
        context.runOnContext(_ -> fetch.start());
    }

    private void count(PeerFetch.Asked who, PeerFetch.Result result, long doneBytes) {
        metrics.peerFills.labels(result.label(who)).inc();
        metrics.peerBytes.labels("in").inc((double) doneBytes);
        if (result == PeerFetch.Result.DAMAGED) {
            metrics.integrityFailures.labels("peer").inc();
        }
    }

    private void ended(ClusterConfig.Address owner, PeerFetch.Result result, long doneBytes) {
        count(PeerFetch.Asked.OWNER, result, doneBytes);
        if (result == PeerFetch.Result.SILENT || result == PeerFetch.Result.UNREACHABLE) {
            resting.put(owner, System.nanoTime());
        }
    }

    /** Returns whether a member did not answer a moment ago. */
    private boolean isResting(ClusterConfig.Address owner) {
        Long since = resting.get(owner);
        if (since == null) {
            return false;
        }
        if (System.nanoTime() - since > REST_NANOS) {
            boolean _ = resting.remove(owner, since);
            return false;
        }
        metrics.peerFills.labels("skipped").inc();
        return true;
    }

    /** Asks nobody any more; fills under way go on at their stores. */
    @Override
    public void close() {
        HttpClientAgent opened = client;
        client = null;
        if (opened != null) {
            opened.close().await();
        }
    }
}
