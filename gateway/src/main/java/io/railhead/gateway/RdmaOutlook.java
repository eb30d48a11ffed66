package io.railhead.gateway;

import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.DcConfig;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.VerbsConfig;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.RdmaDevice;
import java.util.ArrayList;
import java.util.List;

/** The outlook of one-sided delivery on this machine, for people. */
record RdmaOutlook(GatewayConfig.Rdma rdma) {

    List<String> lines(List<RdmaDevice> devices) {
        List<String> lines = new ArrayList<>();
        lines.add("rdma over loopback: " + loopback());
        lines.addAll(verbs(devices));
        if (rdma.dc().enabled()) {
            lines.add(dc(rdma.dc()));
        }
        return lines;
    }

    private String loopback() {
        if (!rdma.loopback().enabled()) {
            return "switched off by rdma.loopback.enabled";
        }
        String reason = FabricOpening.reasonAgainst(rdma.loopback());
        return reason == null ? rdma.loopback().socket().toString() : "off: " + reason;
    }

    private List<String> verbs(List<RdmaDevice> devices) {
        if (!rdma.verbs().enabled()) {
            return List.of("rdma over verbs: switched off by rdma.verbs.enabled");
        }
        List<String> lines = new ArrayList<>();
        for (GidChoice choice : Adapters.choose(rdma, devices)) {
            lines.add("rdma over verbs: " + switch (choice) {
                case GidChoice.Chosen chosen -> describe(chosen);
                case GidChoice.None(String reason) -> "not available: " + reason;
            });
        }
        GatewayConfig.Advertise advertise = rdma.advertise();
        if (!advertise.addresses().isEmpty()) {
            lines.add("rdma over verbs: peers are told " + String.join(", ", advertise.addresses())
                    + ", port " + port(advertise));
        }
        return lines;
    }

    private static String dc(DcConfig dc) {
        return "rdma over dc: "
                + (dc.pin().device() == null
                        ? "the first mlx5 adapter"
                        : dc.pin().device() + " port " + dc.pin().port())
                + ", MTU " + (dc.mtu() == null ? "of the port" : dc.mtu().toString())
                + ", traffic class " + dc.sending().trafficClass()
                + (dc.keyFile() == null ? ", the well-known DC key" : ", DC key of the site's own");
    }

    private int port(GatewayConfig.Advertise advertise) {
        return advertise.port() == 0 ? rdma.verbs().listening().port() : advertise.port();
    }

    private String describe(GidChoice.Chosen chosen) {
        VerbsConfig verbs = rdma.verbs();
        String mtu = verbs.connection().mtu() != null
                ? ", MTU " + verbs.connection().mtu()
                : chosen.gid()
                        .network()
                        .map(Gid.NetworkInterface::pathMtuBytes)
                        .map(bytes -> ", MTU " + bytes)
                        .orElse("");
        return chosen.gid().address().getHostAddress() + " port " + verbs.listening().port()
                + " on " + chosen.device().name() + " port " + chosen.port().number()
                + " (GID " + chosen.gid().index() + ", " + chosen.gid().type().configured()
                + ", " + chosen.port().linkLayer() + ", " + chosen.port().rate() + mtu + ")";
    }
}
