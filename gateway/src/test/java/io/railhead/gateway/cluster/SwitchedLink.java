package io.railhead.gateway.cluster;

import io.railhead.cluster.Link;
import io.railhead.cluster.Member;
import io.railhead.cluster.Membership;

/** A member's way to the others that a test interrupts, in one direction or both. */
final class SwitchedLink implements Link {
    private final Link under;
    private volatile boolean hears = true;
    private volatile boolean speaks = true;

    SwitchedLink(Link ownedUnder) {
        this.under = ownedUnder;
    }

    void hears(boolean on) {
        hears = on;
    }

    void speaks(boolean on) {
        speaks = on;
    }

    @Override
    public void open(Ear ear) {
        under.open(new Ear() {
            @Override
            public void membersAre(Membership membership) {
                ear.membersAre(membership);
            }

            @Override
            public void heard(Member from, byte[] frame) {
                if (hears) {
                    ear.heard(from, frame);
                }
            }
        });
    }

    @Override
    public void cast(byte[] frame) {
        if (speaks) {
            under.cast(frame);
        }
    }

    @Override
    public void send(Member to, byte[] frame) {
        if (speaks) {
            under.send(to, frame);
        }
    }

    @Override
    public void close() {
        under.close();
    }
}
