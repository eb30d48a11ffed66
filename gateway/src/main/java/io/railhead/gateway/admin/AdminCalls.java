package io.railhead.gateway.admin;

import io.railhead.gateway.audit.Audit;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.s3.sigv4.RequestAuthenticator;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The table of admin calls. */
public final class AdminCalls {

    /** A network's retries take less. A caller that stopped must not hold its place for ever. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private AdminCalls() {}

    /**
     * The parts that serve administrators alone.
     *
     * @param support collects a support bundle
     * @param members shows the cluster
     * @param writeBack shows what the store does not have yet
     */
    public record Operators(Drain drain, Audit audit, SupportCall support,
            MembersCall members, WriteBackCalls writeBack) {}

    /**
     * Builds the calls from their shared services.
     *
     * @param authenticator verifies SigV4; null if this gateway verifies no signatures
     */
    public static AdminApi api(@Nullable RequestAuthenticator authenticator, ReadServices reads,
            Routes routes, AccessControl access, Operators operators) {
        InstantSource clock = InstantSource.system();
        Vertx vertx = reads.vertx();
        Metrics metrics = reads.metrics();
        CacheCalls cache = new CacheCalls(reads.cache(), routes::backendNames);
        LogLevels levels = new LogLevels(vertx, clock);
        WarmCall warm = new WarmCall(new CacheWarming.Services(reads, routes, access));
        return new AdminApi(vertx, authenticator, clock, PATIENCE, metrics, operators.audit(),
                Map.ofEntries(
                        Map.entry("warm", warm::run),
                        Map.entry("evict", cache::evict),
                        Map.entry("erase", cache::erase),
                        Map.entry("pin", cache::pin),
                        Map.entry("unpin", cache::unpin),
                        Map.entry("pins", cache::pins),
                        Map.entry("members", operators.members()::call),
                        Map.entry("pending", operators.writeBack()::pending),
                        Map.entry("flush", operators.writeBack()::flush),
                        Map.entry("retry", operators.writeBack()::retry),
                        Map.entry("export", operators.writeBack()::export),
                        Map.entry("discard", operators.writeBack()::discard),
                        Map.entry("drain", operators.drain()::call),
                        Map.entry("usage", new UsageCall(metrics.usage, clock)::call),
                        Map.entry("support", operators.support()::run),
                        Map.entry("log-level", levels::call)));
    }
}
