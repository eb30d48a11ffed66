package io.railhead.gateway;

import io.railhead.cluster.Link;
import io.railhead.rdma.Fabric;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * The environment of a gateway: clocks, machine, fabrics. Tests supply their own.
 *
 * @param nanoClock the clock of cached objects and permissions
 * @param machine the machine with its adapters
 * @param fabrics wraps each fabric that was opened
 * @param links wraps the way to the other members of a cluster
 * @param ownersWait how long another member may take to begin an answer to a fill
 */
public record Environment(LongSupplier nanoClock, DcOpening.Machine machine,
        UnaryOperator<Fabric> fabrics, UnaryOperator<Link> links, Duration ownersWait) {
    public static final Environment REAL = new Environment(System::nanoTime, DcOpening.THIS_ONE,
            UnaryOperator.identity(), UnaryOperator.identity(), Duration.ofMillis(500));

    public Environment withClock(LongSupplier other) {
        return new Environment(other, machine, fabrics, links, ownersWait);
    }

    Environment withMachine(DcOpening.Machine other) {
        return new Environment(nanoClock, other, fabrics, links, ownersWait);
    }

    public Environment withFabrics(UnaryOperator<Fabric> other) {
        return new Environment(nanoClock, machine, other, links, ownersWait);
    }

    public Environment withLinks(UnaryOperator<Link> other) {
        return new Environment(nanoClock, machine, fabrics, other, ownersWait);
    }

    public Environment withOwnersWait(Duration other) {
        return new Environment(nanoClock, machine, fabrics, links, other);
    }
}
