package io.railhead.gateway;

import io.railhead.rdma.Fabric;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * What a gateway finds around it. Tests bring their own.
 *
 * @param nanoClock for what is held and what is allowed
 * @param machine where the adapters are
 * @param fabrics what stands between the gateway and each fabric that was opened
 */
record Surroundings(LongSupplier nanoClock, DcOpening.Machine machine,
        UnaryOperator<Fabric> fabrics) {
    static final Surroundings REAL = new Surroundings(System::nanoTime, DcOpening.THIS_ONE,
            UnaryOperator.identity());

    Surroundings withClock(LongSupplier other) {
        return new Surroundings(other, machine, fabrics);
    }

    Surroundings withMachine(DcOpening.Machine other) {
        return new Surroundings(nanoClock, other, fabrics);
    }

    Surroundings withFabrics(UnaryOperator<Fabric> other) {
        return new Surroundings(nanoClock, machine, other);
    }
}
