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
 * Two threads condemn one page, one of them as its lease ends. One succeeds, and the slot is freed
 * once (a second time throws).
 */
@JCStressTest
@Outcome(id = {"1, 0, 1", "0, 1, 1"}, expect = ACCEPTABLE, desc = "condemned once, and gone")
@Outcome(expect = FORBIDDEN, desc = "condemned twice, never, or not gone")
@State
public class CondemnStress {
    private final OneSlot slot = new OneSlot();
    private final Page page = slot.page((byte) 1);
    private final Lease lease = Objects.requireNonNull(page.tryRetain());

    @Actor
    public void owner(III_Result result) {
        result.r1 = page.condemn() ? 1 : 0;
    }

    @Actor
    public void reader(III_Result result) {
        lease.close();
        result.r2 = page.condemn() ? 1 : 0;
    }

    @Arbiter
    public void after(III_Result result) {
        result.r3 = page.tryRetain() == null ? slot.end() : 0;
    }
}
