package io.railhead.gateway;

import io.railhead.cluster.Link;
import io.railhead.rdma.Fabric;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * The environment of a gateway: clocks, machine, fabrics. Tests supply their own.
 *
 * @param nanoClock the clock of cached objects and permissions
 * @param machine the machine with its adapters
 * @param fabrics wraps each fabric that was opened
 * @param links wraps the way to the other members of a cluster
 */
public record Environment(LongSupplier nanoClock, DcOpening.Machine machine,
        UnaryOperator<Fabric> fabrics, UnaryOperator<Link> links) {
    public static final Environment REAL = new Environment(System::nanoTime, DcOpening.THIS_ONE,
            UnaryOperator.identity(), UnaryOperator.identity());

    public Environment withClock(LongSupplier other) {
        return new Environment(other, machine, fabrics, links);
    }

    Environment withMachine(DcOpening.Machine other) {
        return new Environment(nanoClock, other, fabrics, links);
    }

    public Environment withFabrics(UnaryOperator<Fabric> other) {
        return new Environment(nanoClock, machine, other, links);
    }

    public Environment withLinks(UnaryOperator<Link> other) {
        return new Environment(nanoClock, machine, fabrics, other);
    }
}
