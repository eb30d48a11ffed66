package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A network that goes away and comes back. */
@RequiresVerbs
@Timeout(240)
final class VerbsLinkTest {
    private VerbsRig rig;
    private TestPages pages;

    @BeforeEach
    void start() throws IOException {
        rig = VerbsRig.start();
        pages = new TestPages(rig.fabric());
    }

    @AfterEach
    void nothingIsLeft() {
        rig.close();
        assertThat(pages.leases()).as("leases").isZero();
        assertThat(rig.stats().registeredBytes()).as("registered bytes").isZero();
        assertThat(rig.stats().sessions()).as("sessions").isZero();
        pages.close();
    }

    /**
     * Nothing may be sent meanwhile: on soft-RoCE a datagram that cannot leave the machine breaks
     * the device's own queue pair for connections, and it makes none any more until it is loaded
     * again.
     */
    @Test
    void aLinkThatGoesDownTurnsTheFabricOffAndOnAgain() throws Exception {
        try {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "down");
            Awaiting.until("the fabric is off", () -> !rig.fabric().health().usable());
            assertThat(rig.fabric().health().reason()).contains("down");
        } finally {
            VerbsFaultsTest.run("ip", "link", "set", "v0", "up");
        }
        Awaiting.until("the fabric is on", () -> rig.fabric().health().usable());
    }
}
