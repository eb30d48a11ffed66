package io.railhead.rdma.dc;

import io.railhead.os.adapter.Adapter;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.AsyncEvent;
import io.railhead.os.verbs.PortAttributes;
import io.railhead.rdma.Health;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port that initiators send from. The control thread changes its state, any thread reads it.
 */
final class DcPort {
    private static final Logger log = LoggerFactory.getLogger(DcPort.class);
    private static final int ETHERNET = 2;

    private final Adapter adapter;
    private final DcFabricConfig config;
    private final boolean isEthernet;
    private volatile Health health;
    private volatile int activeMtu;
    private final Optional<String> characterDevice;
    private volatile boolean isDeviceLost;

    DcPort(Adapter adapter, DcFabricConfig config) throws IOException {
        this.adapter = adapter;
        this.config = config;
        PortAttributes now = adapter.verbs().port(adapter.context(), config.port());
        this.isEthernet = now.linkLayer() == ETHERNET;
        this.activeMtu = now.mtuBytes();
        this.health = health(now);
        this.characterDevice = RdmaDevices.findCharacterDevice(adapter.device());
    }

    /** Returns whether the device was, or is about to be, removed. Any thread. */
    boolean isDeviceLost() {
        return isDeviceLost;
    }

    Health health() {
        return health;
    }

    boolean isEthernet() {
        return isEthernet;
    }

    /** Returns the payload bytes of each packet, which clients must use too. */
    int mtu() {
        return config.mtu().orElse(activeMtu);
    }

    /** Reads the device's events, and checks the port. */
    void look() {
        readEvents();
        isDeviceLost |= characterDevice.isPresent()
                && !RdmaDevices.hasCharacterDevice(characterDevice.get());
        Health now;
        try {
            PortAttributes attributes = adapter.verbs().port(adapter.context(), config.port());
            if (attributes.isActive()) {
                noteMtu(attributes.mtuBytes());
            }
            now = health(attributes);
        } catch (IOException e) {
            now = isDeviceLost
                    ? lost()
                    : Health.down(name() + " cannot be asked: " + e.getMessage());
        }
        if (!now.equals(health)) {
            log.warn("dc: {}", now.usable() ? name() + " is usable again" : now.reason());
            health = now;
        }
    }

    private void readEvents() {
        try {
            for (AsyncEvent event = next(); event != null; event = next()) {
                log.info("{}: {} {}", adapter.device(), event.type(), event.element());
                isDeviceLost |= event.type() == AsyncEvent.Type.DEVICE_FATAL;
            }
        } catch (IOException e) {
            log.warn("{}: its events cannot be read: {}", adapter.device(), e.toString());
        }
    }

    private @org.jspecify.annotations.Nullable AsyncEvent next() throws IOException {
        return adapter.verbs().nextAsyncEvent(adapter.context());
    }

    private void noteMtu(int now) {
        if (now != activeMtu) {
            log.warn("dc: the MTU of {} was {} and is {}: clients must have the same as this side,"
                    + " now {}", name(), activeMtu, now, config.mtu().orElse(now));
            activeMtu = now;
        }
    }

    private Health health(PortAttributes attributes) {
        if (isDeviceLost) {
            return lost();
        }
        if (!attributes.isActive()) {
            return Health.down(name() + " is down");
        }
        int wanted = config.mtu().orElse(0);
        return wanted > attributes.mtuBytes()
                ? Health.down("rdma.dc.mtu is " + wanted + ", and " + name() + " carries "
                        + attributes.mtuBytes() + ": packets would be lost without an error")
                : Health.USABLE;
    }

    private Health lost() {
        return Health.down(adapter.device() + " was removed or has failed");
    }

    private String name() {
        return adapter.device() + " port " + config.port();
    }
}
