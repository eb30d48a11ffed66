package io.railhead.gateway.rdma.pairing;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.LeakCheck;
import io.railhead.cache.memory.MemoryConfig;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.authorization.ReplayGuard;
import io.railhead.gateway.channel.NoBackend;
import io.railhead.gateway.config.ByteCount;
import io.railhead.gateway.config.CacheMode;
import io.railhead.gateway.config.Freshness;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.fill.Owners;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.freshness.Servability;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.Route;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.protocol.message.EndReason;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.UnavailableFabric;
import io.railhead.rdma.pairing.PairedSession;
import io.railhead.rdma.pairing.RcDescriptor;
import io.railhead.rdma.pairing.StagingArea;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import io.railhead.rdma.session.PeerSession;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How READY ends where its store fails, and what becomes of its session. */
@SuppressWarnings("NullAway")
final class HipobjReadyTest {
    private static final long BYTES = 10;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private final Vertx vertx = Vertx.vertx();
    private final Metrics metrics = new Metrics();
    private final ClientSessions clientSessions = new ClientSessions(Duration.ofMinutes(1), 10, 10);
    private final FakePair pair = new FakePair();

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(30, SECONDS);
    }

    @Test
    void theSessionOfAGetThatIsNotAnsweredByItsStoreIsOver() throws Exception {
        HttpResponse<String> answer = answer(ready -> ready.get(pair.window(4096, BYTES, 1)));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
        assertThat(pair.held).isTrue();
        assertThat(clientSessions.open()).isZero();
    }

    @Test
    void theSessionOfAStepThatThrowsIsOver() throws Exception {
        HttpResponse<String> answer = answer(_ -> {
            throw new IllegalStateException("an error of this side");
        });
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(clientSessions.open()).isZero();
    }

    private HttpResponse<String> answer(Consumer<HipobjReady> step) throws Exception {
        HipobjSession session = new HipobjSession(pair, target());
        HttpServer server = vertx.createHttpServer().requestHandler(http -> {
            HttpExchange httpExchange = new HttpExchange(http, vertx.getOrCreateContext(), metrics,
                    AccessLog.off(metrics.lostLogLines), Audit.OFF,
                    new HttpDate(InstantSource.system()), "1");
            assertThat(session.tryReady(httpExchange)).isTrue();
            httpExchange.goOn(
                    () -> step.accept(new HipobjReady(admission(), site(), httpExchange, session,
                            request())));
        });
        int port = server.listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(30, SECONDS)
                .actualPort();
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port)).build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private static HipobjTarget target() {
        return HipobjTarget.of(new HipobjHeaders.Prepare(
                new RcDescriptor(7, InetAddress.ofLiteral("127.0.0.1"), 0, 0, 0, 1, 0), 1, 2,
                false, "/b/k", BYTES, 0));
    }

    private static S3Request request() {
        Rule rule = new Rule("store", new Freshness.Strong(), Duration.ZERO, CacheMode.READS, true,
                ByteCount.UNLIMITED, false, false, false, false);
        Address address = Address.of("/b/k", null, List.of());
        return new S3Request(new RequestHead("GET", "/b/k", null, Headers.NONE), address,
                Query.of(Map.of()), new Authentication.Anonymous(),
                RequestSource.anonymous(null, false),
                new Route(new StoppedStore(), new Caller.Anonymous(), "", rule,
                        new UsageTable()));
    }

    private PairingAdmission admission() {
        return new PairingAdmission(new UnavailableFabric("verbs", "none"), clientSessions,
                new ReplayGuard(Duration.ofMinutes(1), () -> false, InstantSource.system(),
                        System::nanoTime),
                () -> null, metrics);
    }

    private HipobjSite site() {
        PageMemory memory = leaks
                .watch(PageMemory.open(new MemoryConfig(64L << 20, 64 << 10, 0.1, false), _ -> {}));
        ObjectCache cache = leaks
                .closing(new ObjectCache(memory, CacheConfig.DEFAULT, System::nanoTime));
        ReadServices reads = new ReadServices(vertx,
                new Servability(cache, new AuthorizationCache(System::nanoTime, cache, metrics),
                        System::nanoTime),
                new NegativeCache(System::nanoTime, cache),
                new Revalidations(), new Relay(metrics), new UnavailableFabric("verbs", "none"),
                new RdmaDeadlines(Duration.ofMinutes(1), Duration.ofMinutes(1)),
                metrics, 64 << 10, 64 << 10, Owners.NONE);
        return new HipobjSite(reads, new Routes(new Routes.Table(null, Map.of()), new UsageTable()),
                new AccessControl(null, metrics));
    }

    private final class FakePair implements PairedSession {
        private final PeerSession session = requireNonNull(
                clientSessions.openPaired("ann", "verbs"));
        volatile boolean held;

        @Override
        public ClientSession session() {
            return session;
        }

        @Override
        public QueuePairEnd own() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int portNumber() {
            return 1;
        }

        @Override
        public RemoteBuffer window(long address, long length, int key) {
            return new RemoteBuffer(session, address, length, key);
        }

        @Override
        public CompletionStage<Void> announce(RemoteBuffer window, int cookie) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void hold() {
            held = true;
        }

        @Override
        public Optional<StagingArea> staging() {
            return Optional.empty();
        }

        @Override
        public void end(EndReason reason) {
            session.end(reason);
        }
    }

    private static final class StoppedStore extends NoBackend {
        @Override
        public CompletionStage<BackendResponse> send(BackendRequest request) {
            return CompletableFuture
                    .failedStage(new BackendException(BackendException.Reason.BROKEN,
                            "it was stopped", null));
        }
    }
}
