package io.railhead.gateway.object.read;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.gateway.authorization.AuthorizationCache;
import io.railhead.gateway.delivery.RdmaDeadlines;
import io.railhead.gateway.fill.ObjectHeaders;
import io.railhead.gateway.fill.Owners;
import io.railhead.gateway.freshness.NegativeCache;
import io.railhead.gateway.freshness.Revalidations;
import io.railhead.gateway.freshness.Servability;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.relay.Relay;
import io.railhead.rdma.Fabric;
import io.vertx.core.Vertx;
import java.util.function.LongSupplier;

/**
 * The services that reads use.
 *
 * @param owners the gateways that are asked for pages before the store
 */
public record ReadServices(Vertx vertx, Servability servability, NegativeCache absences,
        Revalidations revalidations, Relay relay, Fabric fabric, RdmaDeadlines deadlines,
        Metrics metrics, long pageBytes, long runBytes, Owners owners) {

    public ObjectCache cache() {
        return servability.cache();
    }

    public AuthorizationCache grants() {
        return servability.grants();
    }

    public LongSupplier nanoClock() {
        return servability.nanoClock();
    }

    /** Returns the present, to be passed back with what a request that is sent now learns. */
    public ObjectHeaders.Moment now(ObjectId id) {
        return new ObjectHeaders.Moment(nanoClock().getAsLong(), cache().writes().epoch(id));
    }

    /** Returns the same services with another fabric. */
    public ReadServices withFabric(Fabric other) {
        return new ReadServices(vertx, servability, absences, revalidations, relay, other,
                deadlines, metrics, pageBytes, runBytes, owners);
    }

    /** Returns the same services with other deadlines. */
    public ReadServices withDeadlines(RdmaDeadlines others) {
        return new ReadServices(vertx, servability, absences, revalidations, relay, fabric,
                others, metrics, pageBytes, runBytes, owners);
    }
}
