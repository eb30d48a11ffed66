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
import org.openjdk.jcstress.infra.results.II_Result;

/** A reader with a lease that sees a page published sees all its bytes. */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "not published yet")
@Outcome(id = "5, 1", expect = ACCEPTABLE, desc = "published: whole")
@Outcome(expect = FORBIDDEN, desc = "published before its bytes, or a slot that leaks")
@State
public class PublishStress {
    private static final byte STALE = 3;
    private static final byte FILLED = 5;

    private final OneSlot slot = new OneSlot();
    private final Page page = stale(slot);
    private final Lease lease = Objects.requireNonNull(page.tryRetain());

    /** A slot that holds another page's bytes. */
    private static Page stale(OneSlot slot) {
        slot.page(STALE).condemn();
        return Objects.requireNonNull(slot.tryPage());
    }

    @Actor
    public void filler() {
        OneSlot.fill(page, FILLED);
        page.publish();
    }

    @Actor
    public void reader(II_Result result) {
        if (page.isPublished()) {
            result.r1 = OneSlot.uniform(lease);
        }
    }

    @Arbiter
    public void after(II_Result result) {
        lease.close();
        page.condemn();
        result.r2 = slot.end();
    }
}
