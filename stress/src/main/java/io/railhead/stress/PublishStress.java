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
import org.openjdk.jcstress.infra.results.I_Result;

/** A reader with a lease that sees a page published sees all its bytes. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not published yet")
@Outcome(id = "5", expect = ACCEPTABLE, desc = "published: whole")
@Outcome(expect = FORBIDDEN, desc = "published before its bytes")
@State
public class PublishStress {
    private static final byte STALE = 3;
    private static final byte FILLED = 5;

    private final Page page = stale();
    private final Lease lease = Objects.requireNonNull(page.tryRetain());

    /** A slot that holds another page's bytes. */
    private static Page stale() {
        Slots.page(STALE).condemn();
        return Slots.page();
    }

    @Actor
    public void filler() {
        Slots.fill(page, FILLED);
        page.publish();
    }

    @Actor
    public void reader(I_Result result) {
        if (page.isPublished()) {
            result.r1 = Slots.uniform(lease);
        }
    }

    @Arbiter
    public void after() {
        lease.close();
        page.condemn();
    }
}
