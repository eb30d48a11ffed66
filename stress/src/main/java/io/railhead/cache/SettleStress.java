package io.railhead.cache;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.railhead.cache.FillException.Reason;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Waiters come while a claim is settled: each is called exactly once. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each told once")
@Outcome(expect = FORBIDDEN, desc = "a waiter forgotten or told twice")
@State
public class SettleStress {
    private static final FillClaim.Outcome FAILED = new FillClaim.Failed(
            new FillException(Reason.BACKEND_FAILED, "told to fail", null));

    private final FillClaim fillClaim = new FillClaim(InFlight.freshKey(), 0, "");
    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger second = new AtomicInteger();

    @Actor
    public void waiters() {
        fillClaim.whenSettled(outcome -> first.incrementAndGet());
        fillClaim.whenSettled(outcome -> second.incrementAndGet());
    }

    @Actor
    public void filler() {
        fillClaim.settle(FAILED);
    }

    @Arbiter
    public void after(II_Result result) {
        result.r1 = first.get();
        result.r2 = second.get();
    }
}
