package io.railhead.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.client.exporter.common.TextFormat;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scrapes of machines that are folders. */
class NicCollectorTest {
    private static final String PORT = "class/infiniband/mlx5_0/ports/1/";

    @TempDir
    Path folder;

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private Rdma rdma(String verbs) throws Exception {
        write("credentials.yaml", "");
        write("railhead.yaml", """
                gateway: {credentials: credentials.yaml}
                backends: {a: {endpoints: ["http://127.0.0.1:9"]}}
                rdma: {verbs: {%s}}
                """.formatted(verbs));
        return ConfigLoader.load(folder.resolve("railhead.yaml")).rdma();
    }

    /** One adapter in use, and another without an address. */
    private void adapters() throws IOException {
        for (String device : List.of("mlx5_0", "mlx5_1")) {
            write("class/infiniband/" + device + "/node_type", "1: CA\n");
            write("class/infiniband/" + device + "/ports/1/state", "4: ACTIVE\n");
            write("class/infiniband/" + device + "/ports/1/link_layer", "Ethernet\n");
            write("class/infiniband/" + device + "/ports/1/hw_counters/out_of_sequence", "4\n");
        }
        write(PORT + "gids/3", "0000:0000:0000:0000:0000:ffff:0a63:0001\n");
        write(PORT + "gid_attrs/types/3", "RoCE v2\n");
        write(PORT + "gid_attrs/ndevs/3", "eth0\n");
        write(PORT + "counters/port_xmit_data", "25\n");
        write(PORT + "counters/port_rcv_data", "1\n");
        write(PORT + "hw_counters/secret_of_another_driver", "1\n");
    }

    private static String scrape(NicCollector collector) throws IOException {
        StringWriter text = new StringWriter();
        TextFormat.write004(text, Collections.enumeration(collector.collect()));
        return text.toString();
    }

    private static List<String> samples(String text) {
        return text.lines().filter(line -> !line.startsWith("#")).toList();
    }

    @Test
    void portsInUseAreReadAndNoOthers() throws Exception {
        adapters();
        assertThat(samples(scrape(new NicCollector(rdma("enabled: true"), folder))))
                .containsExactly(
                        "railhead_nic_events_total{device=\"mlx5_0\",port=\"1\","
                                + "counter=\"out_of_sequence\",} 4.0",
                        "railhead_nic_bytes_total{device=\"mlx5_0\",port=\"1\","
                                + "direction=\"sent\",} 100.0",
                        "railhead_nic_bytes_total{device=\"mlx5_0\",port=\"1\","
                                + "direction=\"received\",} 4.0");
    }

    @Test
    void aPortThatGoesDownIsStillRead() throws Exception {
        adapters();
        NicCollector collector = new NicCollector(rdma("enabled: true"), folder);
        collector.collect();
        write(PORT + "state", "1: DOWN\n");
        write(PORT + "counters/link_downed", "1\n");
        assertThat(scrape(collector)).contains("counter=\"link_downed\",} 1.0");
    }

    @Test
    void withoutVerbsOrAdaptersTheFamiliesAreThereAndEmpty() throws Exception {
        assertThat(samples(scrape(new NicCollector(rdma("enabled: true"), folder)))).isEmpty();
        adapters();
        String off = scrape(new NicCollector(rdma("enabled: false"), folder));
        assertThat(samples(off)).isEmpty();
        assertThat(off).contains("# TYPE railhead_nic_events_total counter",
                "# TYPE railhead_nic_bytes_total counter");
    }
}
