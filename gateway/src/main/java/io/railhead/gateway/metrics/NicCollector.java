package io.railhead.gateway.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.CounterMetricFamily;
import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import io.railhead.gateway.config.VerbsConfig;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.PortCounters;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Collects port counters from sysfs at each scrape, for ports that fabrics use or have used;
 * nothing while these fabrics are disabled. Collecting blocks.
 */
public final class NicCollector extends Collector {
    private final Rdma rdma;
    private final Path sysfs;
    /**
     * The ports used so far: a port that is down is not chosen by address any more, and its
     * counters matter most then.
     */
    private final Set<Place> used = new TreeSet<>(
            Comparator.comparing(Place::device).thenComparingInt(Place::port));

    private record Place(String device, int port) {}

    public NicCollector(Rdma rdma) {
        this(rdma, Path.of("/sys"));
    }

    /** Collects from another folder than {@code /sys}, for tests. */
    NicCollector(Rdma rdma, Path sysfs) {
        this.rdma = rdma;
        this.sysfs = sysfs;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        CounterMetricFamily events = new CounterMetricFamily("railhead_nic_events",
                "Errors and congestion of the ports that RDMA uses, by the kernel's names.",
                List.of("device", "port", "counter"));
        CounterMetricFamily bytes = new CounterMetricFamily("railhead_nic_bytes",
                "Bytes over the ports that RDMA uses, whoever they were for.",
                List.of("device", "port", "direction"));
        for (Place place : places()) {
            String port = String.valueOf(place.port());
            PortCounters counters = PortCounters.read(sysfs, place.device(), place.port());
            counters.events()
                    .forEach((name, count) -> events
                            .addMetric(List.of(place.device(), port, name), (double) count));
            counters.sentBytes()
                    .ifPresent(sent -> bytes.addMetric(List.of(place.device(), port, "sent"),
                            (double) sent));
            counters.receivedBytes()
                    .ifPresent(received -> bytes.addMetric(
                            List.of(place.device(), port, "received"), (double) received));
        }
        return List.of(events, bytes);
    }

    private synchronized List<Place> places() {
        if (rdma.verbs().enabled()) {
            for (GidChoice choice : Adapters.choose(rdma, RdmaDevices.read(sysfs))) {
                if (choice instanceof GidChoice.Chosen(var device, var port, var _)) {
                    used.add(new Place(device.name(), port.number()));
                }
            }
        }
        if (rdma.dc().enabled()) {
            VerbsConfig.Pin pin = rdma.dc().pin();
            for (RdmaDevice device : RdmaDevices.read(sysfs)) {
                device.ports()
                        .stream()
                        .filter(port -> pin.device() == null
                                || (pin.device().equals(device.name())
                                        && pin.port() == port.number()))
                        .forEach(port -> used.add(new Place(device.name(), port.number())));
            }
        }
        return List.copyOf(used);
    }
}
