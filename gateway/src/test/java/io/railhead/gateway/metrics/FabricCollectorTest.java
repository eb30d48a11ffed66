package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.client.exporter.common.TextFormat;
import io.railhead.cache.memory.Slab;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.QueuePairState;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.UnavailableFabric;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FabricCollectorTest {

    /** Says what it was made with. */
    private record Counted(FabricStats stats) implements Fabric {
        @Override
        public String name() {
            return "verbs";
        }

        @Override
        public Health health() {
            return Health.USABLE;
        }

        @Override
        public void register(Slab slab) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Transfer begin(RemoteBuffer buffer) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private static List<String> samples(Fabric fabric) throws IOException {
        StringWriter text = new StringWriter();
        TextFormat.write004(text,
                Collections.enumeration(new FabricCollector(List.of(fabric)).collect()));
        return text.toString().lines().filter(line -> !line.startsWith("#")).toList();
    }

    @Test
    void eachNumberIsUnderItsOwnName() throws IOException {
        assertThat(samples(new Counted(new FabricStats(1, 2, 3, 4_000_000_000L, 5_000_000_000L, 6,
                7, Map.of(TransferException.Reason.FENCED, 8L), Map.of(Refusal.BUSY, 9L),
                Map.of(QueuePairState.PROVING, 10L),
                Map.of("verbs-poller-mlx5_0-0", 11_500_000_000L)))))
                .containsExactly("railhead_fabric_usable{fabric=\"verbs\",} 1.0",
                        "railhead_fabric_sessions{fabric=\"verbs\",} 6.0",
                        "railhead_fabric_registered_bytes{fabric=\"verbs\",} 7.0",
                        "railhead_fabric_transfers_total{fabric=\"verbs\",} 1.0",
                        "railhead_fabric_bytes_total{fabric=\"verbs\",direction=\"write\",} 2.0",
                        "railhead_fabric_bytes_total{fabric=\"verbs\",direction=\"read\",} 3.0",
                        "railhead_fabric_copy_seconds_total{fabric=\"verbs\",} 4.0",
                        "railhead_fabric_idle_spin_seconds_total{fabric=\"verbs\",} 5.0",
                        "railhead_fabric_refusals_total{fabric=\"verbs\",side=\"transfer\","
                                + "reason=\"fenced\",} 8.0",
                        "railhead_fabric_refusals_total{fabric=\"verbs\",side=\"peer\","
                                + "reason=\"busy\",} 9.0",
                        "railhead_queue_pairs{fabric=\"verbs\",state=\"proving\",} 10.0",
                        "railhead_poller_cpu_seconds_total{fabric=\"verbs\","
                                + "poller=\"verbs-poller-mlx5_0-0\",} 11.5");
    }

    @Test
    void aFabricWithoutQueuePairsHasNoSeriesOfThem() throws IOException {
        assertThat(samples(new UnavailableFabric("loopback", "switched off")))
                .noneMatch(line -> line.startsWith("railhead_queue_pairs")
                        || line.startsWith("railhead_poller"));
    }
}
