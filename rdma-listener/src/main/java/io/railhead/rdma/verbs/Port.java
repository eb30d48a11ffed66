package io.railhead.rdma.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.AsyncEvent;
import io.railhead.rdma.Health;
import io.railhead.rdma.poller.PortBudgets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One listening address, its device's port, and the pollers that serve it. The control thread
 * changes its state, any thread reads it.
 */
final class Port {
    private static final Logger log = LoggerFactory.getLogger(Port.class);

    private final InetSocketAddress address;
    private final RdmaCmId listener;
    private final Adapter adapter;
    private final int number;
    private final List<PollerGroup> rails;
    private final PortBudgets budgets;
    private final Optional<String> characterDevice;
    private volatile Health health = Health.USABLE;
    private volatile boolean isDeviceLost;

    /** @param budgets the budgets of the device's port, which several addresses may share */
    Port(InetSocketAddress address, RdmaCmId listener, Adapter adapter, List<PollerGroup> rails,
            PortBudgets budgets) {
        this.address = address;
        this.listener = listener;
        this.adapter = adapter;
        this.number = listener.getPort_num();
        this.budgets = budgets;
        this.rails = List.copyOf(rails);
        this.characterDevice = RdmaDevices.findCharacterDevice(adapter.device());
    }

    InetSocketAddress address() {
        return address;
    }

    RdmaCmId listener() {
        return listener;
    }

    Adapter adapter() {
        return adapter;
    }

    /** Returns the number of the port on its device, from 1. */
    int number() {
        return number;
    }

    PortBudgets budgets() {
        return budgets;
    }

    Health health() {
        return health;
    }

    /** Returns the poller with the fewest connections. */
    PollerGroup rail() {
        PollerGroup least = rails.getFirst();
        for (PollerGroup pollerGroup : rails) {
            if (pollerGroup.links() < least.links()) {
                least = pollerGroup;
            }
        }
        return least;
    }

    /** Returns whether the device was, or is about to be, removed: then nothing of it is used. */
    boolean isDeviceLost() {
        return isDeviceLost;
    }

    /** Notes rdma_cm's report that the device is being removed. */
    void deviceRemoved() {
        isDeviceLost = true;
    }

    /** Reads the device's events, and checks the port. */
    void look() {
        try {
            for (AsyncEvent event = adapter.verbs()
                    .nextAsyncEvent(adapter.context()); event != null; event = adapter.verbs()
                            .nextAsyncEvent(adapter.context())) {
                log.info("{}: {} {}", adapter.device(), event.type(), event.element());
                isDeviceLost |= event.type() == AsyncEvent.Type.DEVICE_FATAL;
            }
        } catch (IOException e) {
            log.warn("{}: its events cannot be read: {}", adapter.device(), e.toString());
        }
        isDeviceLost |= characterDevice.isPresent()
                && !RdmaDevices.hasCharacterDevice(characterDevice.get());
        Health now = isDeviceLost
                ? Health.down(adapter.device() + " was removed or has failed")
                : adapter.isActive(number)
                        ? Health.USABLE
                        : Health.down(adapter.device() + " port " + number + " is down");
        if (!now.equals(health)) {
            log.warn("{} port {}: {}", adapter.device(), number,
                    now.usable() ? "usable again" : now.reason());
            health = now;
        }
    }
}
