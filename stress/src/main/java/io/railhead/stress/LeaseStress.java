package io.railhead.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import java.util.Objects;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Two threads wrongly close one lease. One of them gets an exception, the owner's count is
 * untouched, and the page can still be leased.
 */
@JCStressTest
@Outcome(id = {"1, 0, 1", "0, 1, 1"}, expect = ACCEPTABLE, desc = "closed once")
@Outcome(expect = FORBIDDEN, desc = "closed twice or not at all, or the page went with it")
@State
public class LeaseStress {
    private final OneSlot slot = new OneSlot();
    private final Page page = slot.page((byte) 1);
    private final Lease lease = Objects.requireNonNull(page.tryRetain());

    @Actor
    public void one(III_Result result) {
        result.r1 = closed();
    }

    @Actor
    public void other(III_Result result) {
        result.r2 = closed();
    }

    private int closed() {
        try {
            lease.close();
            return 1;
        } catch (IllegalStateException closedBefore) {
            return 0;
        }
    }

    @Arbiter
    public void after(III_Result result) {
        Lease next = page.tryRetain();
        if (next != null) {
            next.close();
            page.condemn();
            result.r3 = slot.end();
        }
    }
}
