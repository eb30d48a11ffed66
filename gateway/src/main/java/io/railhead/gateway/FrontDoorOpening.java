package io.railhead.gateway;

import io.railhead.gateway.admin.FlushEndpoint;
import io.railhead.gateway.admin.PrefetchEndpoint;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.authorization.ReplayGuard;
import io.railhead.gateway.channel.SessionCallers;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.AuthMode;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.frontdoor.CleartextPolicy;
import io.railhead.gateway.frontdoor.Connections;
import io.railhead.gateway.frontdoor.DialectPath;
import io.railhead.gateway.frontdoor.FrontDoor;
import io.railhead.gateway.frontdoor.HitServices;
import io.railhead.gateway.frontdoor.InternalEndpoint;
import io.railhead.gateway.frontdoor.OwnPaths;
import io.railhead.gateway.frontdoor.RequestVerifier;
import io.railhead.gateway.frontdoor.S3Listener;
import io.railhead.gateway.frontdoor.UnsignedEndpoint;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.object.form.FormUpload;
import io.railhead.gateway.object.read.HitLookup;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.operation.Operations;
import io.railhead.gateway.operation.Router;
import io.railhead.gateway.rdma.DcTokens;
import io.railhead.gateway.rdma.TokenAdmission;
import io.railhead.gateway.rdma.pairing.ConnectPaths;
import io.railhead.gateway.rdma.pairing.HipobjPaths;
import io.railhead.gateway.rdma.pairing.HipobjSite;
import io.railhead.gateway.rdma.pairing.PairingAdmission;
import io.railhead.gateway.rdma.session.FabricDirectory;
import io.railhead.gateway.rdma.session.SessionOpening;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.s3.sigv4.Authenticator;
import io.railhead.gateway.s3.sigv4.PassThrough;
import io.railhead.gateway.s3.sigv4.PostPolicy;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.railhead.gateway.s3.sigv4.RequestHead;
import io.railhead.gateway.s3.sigv4.SigV2;
import io.railhead.gateway.s3.sigv4.TrustedNetwork;
import io.railhead.gateway.sts.Sts;
import io.railhead.rdma.pairing.PairedWindows;
import io.railhead.rdma.session.ClientSessions;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds the S3 listener from the configuration: authenticator, operations and own paths. */
final class FrontDoorOpening {
    private static final Logger LOG = LoggerFactory.getLogger(FrontDoorOpening.class);

    private final GatewayConfig config;
    private final CredentialStore credentials;
    private final Routes routes;
    private final AccessControl access;
    private final ReadServices reads;
    private final ClientSessions clientSessions;
    private final FabricOpening opening;

    FrontDoorOpening(GatewayConfig config, CredentialStore credentials, Routes routes,
            AccessControl access, ReadServices reads, ClientSessions clientSessions,
            FabricOpening opening) {
        this.config = config;
        this.credentials = credentials;
        this.routes = routes;
        this.access = access;
        this.reads = reads;
        this.clientSessions = clientSessions;
        this.opening = opening;
    }

    /**
     * The paths that are made elsewhere.
     *
     * @param unsigned by their names behind {@link InternalEndpoint#PREFIX}
     */
    record Given(FlushEndpoint flush, Map<String, UnsignedEndpoint> unsigned) {}

    S3Listener open(Vertx vertx, Connections connections, Admission admission,
            SessionCallers callers, FrontDoor.Logs logs, Given given, LongSupplier nanoClock) {
        // Shared by both users, so that the gateway's start means the same time to each.
        ReplayGuard replayGuard = new ReplayGuard(config.rdma().tokenAge(),
                credentials::areOfSeveralTenants, Clock.systemUTC(),
                nanoClock);
        OwnPaths paths = new OwnPaths(endpoints(callers, given.flush), given.unsigned,
                dialectPaths(replayGuard), sts(logs.audit()));
        RequestVerifier verifier = new RequestVerifier(authenticator(), paths, routes,
                config.gateway().domains(), Clock.systemUTC());
        return new S3Listener(vertx,
                new FrontDoor(verifier, admission, access, router(replayGuard), paths, logs),
                new HitServices(verifier, new HitLookup(reads, access), admission, logs),
                connections, config.gateway());
    }

    private Router router(ReplayGuard replayGuard) {
        if (config.gateway().access().mode() == AuthMode.PASS_THROUGH) {
            return Operations.passingThrough(reads, access);
        }
        DcTokens targets = new DcTokens(opening.dc().fabric(),
                opening.dc().reasonAgainst(credentials::areOfSeveralTenants));
        TokenAdmission tokens = new TokenAdmission(clientSessions, reads.fabric(),
                new PairedWindows(opening.verbs()), targets, replayGuard,
                Operations.dialects(config.rdma()), reads.metrics());
        return Operations.router(reads, tokens, access, new FormUpload.Site(
                new PostPolicy(credentials, config.gateway().access().sigV2()), routes, access,
                Clock.systemUTC()));
    }

    private Map<String, InternalEndpoint> endpoints(SessionCallers callers, FlushEndpoint flush) {
        FabricDirectory directory = opening.endpoints();
        return Map.of("endpoints", directory, "sessions",
                new SessionOpening(clientSessions, directory, callers,
                        this::reasonAgainstCleartext),
                "warm", new PrefetchEndpoint(reads, routes, access), "flush", flush);
    }

    private @Nullable Sts sts(Audit audit) {
        GatewayConfig.WebIdentity webIdentity = config.gateway().webIdentity();
        if (webIdentity == null) {
            return null;
        }
        if (webIdentity.sessionKeys() == null) {
            LOG.warn("gateway.web_identity.session_keys is missing: sessions end with this process,"
                    + " and no other gateway takes them");
        }
        if (config.gateway().tls() == null && !config.gateway().listen().isOfThisHost()) {
            LOG.warn("gateway.tls is missing: tokens and the credentials that are made of them pass"
                    + " in cleartext");
        }
        return new Sts(credentials, webIdentity, Clock.systemUTC(), reads.metrics(), audit);
    }

    private @Nullable String reasonAgainstCleartext() {
        return CleartextPolicy.reasonAgainst(config, credentials.areOfSeveralTenants());
    }

    private Map<String, DialectPath> dialectPaths(ReplayGuard replayGuard) {
        PairingAdmission admission = new PairingAdmission(opening.verbs(), clientSessions,
                replayGuard, this::reasonAgainstCleartext, reads.metrics());
        Map<String, DialectPath> paths = new HashMap<>(
                new ConnectPaths(config.rdma().dialects().connect(), admission).table());
        paths.putAll(new HipobjPaths(config.rdma().pairs().hipobj(), admission,
                new HipobjSite(reads.withDeadlines(RdmaDeadlines.ofChannel(
                        config.rdma().channel().requestTimeout())), routes, access))
                .table());
        return paths;
    }

    private RequestAuthenticator authenticator() {
        String trusted = config.gateway().access().trustedPrincipal();
        if (config.gateway().access().mode() == AuthMode.PASS_THROUGH) {
            LOG.info("the stores verify signatures (gateway.authentication: pass_through):"
                    + " every read is asked of them, and nothing is served by RDMA");
            return new PassThrough();
        }
        if (trusted == null) {
            return new Authenticator(credentials,
                    config.gateway().access().sigV2()
                            ? new SigV2(credentials, this::bucketInHost)
                            : null);
        }
        LOG.warn("NO CLIENT IS AUTHENTICATED (gateway.authentication: trusted_network): whoever"
                + " reaches {} acts as principal {}", config.gateway().listen(), trusted);
        return new TrustedNetwork(credentials, trusted);
    }

    private @Nullable String bucketInHost(RequestHead head) {
        String host = head.headers().get("host");
        return host == null ? null : Address.bucketOf(host, config.gateway().domains());
    }
}
