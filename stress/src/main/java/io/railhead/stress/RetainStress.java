package io.railhead.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A reader leases a page while its owner condemns it and the slot is written anew: the reader sees
 * the old bytes or gets no lease, never the new ones.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "too late: no lease")
@Outcome(id = "7, 1", expect = ACCEPTABLE, desc = "in time: the page's own bytes")
@Outcome(expect = FORBIDDEN, desc = "bytes of another page under a lease")
@State
public class RetainStress {
    private static final byte OLD = 7;
    private static final byte NEW = 9;

    private final Page page = Slots.page(OLD);

    @Actor
    public void reader(II_Result result) {
        Lease lease = page.tryRetain();
        if (lease != null) {
            try (lease) {
                result.r1 = Slots.uniform(lease);
            }
        }
    }

    @Actor
    public void owner(II_Result result) {
        result.r2 = page.condemn() ? 1 : 0;
        Slots.page(NEW).condemn();
    }
}
