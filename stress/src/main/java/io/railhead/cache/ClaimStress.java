package io.railhead.cache;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.railhead.cache.FillTable.Fetcher;
import io.railhead.cache.memory.Page;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two readers miss one page: one fetches it, the other joins, and both get the outcome. */
@JCStressTest
@Outcome(id = {"1, 0, 2", "0, 1, 2"}, expect = ACCEPTABLE, desc = "one fetch for both")
@Outcome(expect = FORBIDDEN, desc = "two fetches, none, or a reader that waits for ever")
@State
public class ClaimStress {
    private final PageKey key = InFlight.freshKey();
    private final Reader one = new Reader(key);
    private final Reader other = new Reader(key);

    @Actor
    public void first(III_Result result) {
        result.r1 = InFlight.TABLE.claimMissing(List.of(one), "").size();
    }

    @Actor
    public void second(III_Result result) {
        result.r2 = InFlight.TABLE.claimMissing(List.of(other), "").size();
    }

    @Arbiter
    public void after(III_Result result) {
        InFlight.TABLE.abandon(one.claimed());
        InFlight.TABLE.abandon(other.claimed());
        result.r3 = one.told + other.told;
    }

    private static final class Reader implements FillTable.Seeker {
        private final PageKey key;
        private @Nullable FillClaim mine;
        private int told;

        Reader(PageKey key) {
            this.key = key;
        }

        @Override
        public PageKey key() {
            return key;
        }

        @Override
        public boolean tryHold(Page page) {
            return false;
        }

        @Override
        public void join(FillClaim fillClaim, Fetcher fetcher) {
            if (fetcher == Fetcher.SELF) {
                mine = fillClaim;
            }
            fillClaim.whenSettled(outcome -> told++);
        }

        List<FillClaim> claimed() {
            return mine == null ? List.of() : List.of(mine);
        }
    }
}
