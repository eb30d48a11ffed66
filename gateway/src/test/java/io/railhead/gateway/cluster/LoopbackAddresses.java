package io.railhead.gateway.cluster;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Addresses of this host that no other test has, so that fixed ports need no race: a process takes
 * its own part of 127.0.0.0/8.
 */
public final class LoopbackAddresses {
    private static final int OWN = (int) (ProcessHandle.current().pid() % 62_500);
    private static final AtomicInteger NEXT = new AtomicInteger(1);

    private LoopbackAddresses() {}

    /** The configuration of a cluster of one member. */
    public static String cluster() {
        String listen = '"' + next() + ":7800\"";
        return "cluster: {listen: " + listen + ", members: [" + listen + "]}\n";
    }

    public static String next() {
        return "127." + (1 + OWN / 250) + "." + (1 + OWN % 250) + "." + NEXT.getAndIncrement();
    }
}
