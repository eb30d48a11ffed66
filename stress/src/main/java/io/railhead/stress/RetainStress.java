package io.railhead.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A reader leases a page while its owner condemns it and rewrites the slot. The reader sees the old
 * bytes or gets no lease; it never sees the new bytes.
 */
@JCStressTest
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "too late: no lease")
@Outcome(id = "7, 1, 1", expect = ACCEPTABLE, desc = "the lease ended before the slot was wanted")
@Outcome(id = "7, 0, 1", expect = ACCEPTABLE, desc = "the lease kept the slot")
@Outcome(expect = FORBIDDEN, desc = "bytes of another page under a lease, or a slot that leaks")
@State
public class RetainStress {
    private static final byte OLD = 7;
    private static final byte NEW = 9;

    private final OneSlot slot = new OneSlot();
    private final Page page = slot.page(OLD);

    @Actor
    public void reader(III_Result result) {
        Lease lease = page.tryRetain();
        if (lease != null) {
            try (lease) {
                result.r1 = OneSlot.uniform(lease);
            }
        }
    }

    @Actor
    public void owner(III_Result result) {
        page.condemn();
        Page next = slot.tryPage();
        if (next != null) {
            result.r2 = 1;
            OneSlot.fill(next, NEW);
            next.condemn();
        }
    }

    @Arbiter
    public void after(III_Result result) {
        result.r3 = slot.end();
    }
}
