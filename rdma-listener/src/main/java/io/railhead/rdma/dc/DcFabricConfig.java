package io.railhead.rdma.dc;

import io.railhead.os.devices.GidRequest;
import io.railhead.os.verbs.DcInitiator;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * The configuration of the dc fabric.
 *
 * @param device such as {@code mlx5_0}
 * @param port of the device, from 1
 * @param gids the GIDs of the port that packets may leave from
 * @param key the DC key, which clients must use for their targets
 * @param mtu payload bytes of a packet; empty for the port's. Clients must use the same, since it
 *            is not negotiated: with another one, requests complete although their bytes never
 *            arrive
 * @param spin the longest time that the poller spins before it sleeps
 */
public record DcFabricConfig(String device, int port, GidRequest gids, DcKey key, OptionalInt mtu,
        Pool pool, Sending sending, OutstandingBytes outstanding, Duration spin) {
    public static DcFabricConfig on(String device, int port, GidRequest gids) {
        return new DcFabricConfig(device, port, gids, DcKey.WELL_KNOWN, OptionalInt.empty(),
                Pool.DEFAULT,
                Sending.DEFAULT, OutstandingBytes.DEFAULT, Duration.ofNanos(20_000));
    }

    public DcFabricConfig with(Pool other) {
        return new DcFabricConfig(device, port, gids, key, mtu, other, sending, outstanding, spin);
    }

    public DcFabricConfig with(Sending other) {
        return new DcFabricConfig(device, port, gids, key, mtu, pool, other, outstanding, spin);
    }

    public DcFabricConfig with(OutstandingBytes other) {
        return new DcFabricConfig(device, port, gids, key, mtu, pool, sending, other, spin);
    }

    public DcFabricConfig with(DcKey other) {
        return new DcFabricConfig(device, port, gids, other, mtu, pool, sending, outstanding, spin);
    }

    public DcFabricConfig withMtu(int bytes) {
        return new DcFabricConfig(device, port, gids, key, OptionalInt.of(bytes), pool, sending,
                outstanding, spin);
    }

    /**
     * The initiators of one tenant. Each carries one request at a time. As many requests again may
     * wait for an initiator, and further ones are declined.
     *
     * @param initiators the most initiators; created on demand
     * @param requests the depth of an initiator's send queue
     * @param entries of a work request's scatter list; less where the device has less
     * @param readDepth the most outstanding READs; less if the device supports less
     * @param completions the depth of the one completion queue: initiators that do not fit are not
     *            created
     * @param handles the most address handles that are kept
     */
    public record Pool(int initiators, int requests, int entries, int readDepth, int completions,
            int handles) {
        public static final Pool DEFAULT = new Pool(32, 128, 16, 16, 1 << 16, 1024);

        public Pool {
            require("initiators", initiators, 1, 4096);
            require("requests", requests, 64, 1 << 15);
            require("entries", entries, 1, 64);
            require("readDepth", readDepth, 1, 255);
            require("completions", completions, requests, 1 << 22);
            require("handles", handles, 1, 1 << 20);
        }

        public Pool withInitiators(int most) {
            return new Pool(most, requests, entries, readDepth, completions, handles);
        }

        public Pool withCompletions(int depth) {
            return new Pool(initiators, requests, entries, readDepth, depth, handles);
        }

        public Pool withHandles(int most) {
            return new Pool(initiators, requests, entries, readDepth, completions, most);
        }

        DcInitiator.Capacity capacity(int entriesOfDevice) {
            return new DcInitiator.Capacity(requests, Math.min(entries, entriesOfDevice));
        }
    }

    /**
     * The attributes of packets.
     *
     * @param ackTimeout a packet is sent again after 4.096 µs × 2^this
     * @param retryCount retries before a peer counts as dead
     * @param rnrRetry retries while a target is not ready
     * @param hopLimit the most routers on the way, plus one
     * @param trafficClass DSCP × 4
     * @param serviceLevel 0 to 15; over Ethernet the priority, 0 to 7
     */
    public record Sending(int ackTimeout, int retryCount, int rnrRetry, int hopLimit,
            int trafficClass, int serviceLevel) {
        public static final Sending DEFAULT = new Sending(16, 7, 3, 64, 96, 0);

        public Sending {
            require("ackTimeout", ackTimeout, 1, 31);
            require("retryCount", retryCount, 0, 7);
            require("rnrRetry", rnrRetry, 0, 6);
            require("hopLimit", hopLimit, 1, 255);
            require("trafficClass", trafficClass, 0, 255);
            require("serviceLevel", serviceLevel, 0, 15);
        }
    }

    /** The most bytes that may be posted and not completed. */
    public record OutstandingBytes(long perPrincipal, long perPort) {
        public static final OutstandingBytes DEFAULT = new OutstandingBytes(64L << 20,
                256L << 20);
    }

    private static void require(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " must be " + least + " to " + most + ": " + value);
        }
    }
}
