package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.fail;
import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.ListenAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks that a gateway could listen on its addresses, or does so already. */
final class Ports {
    private final Host host;
    private final Optional<RunningGateway> running;

    private Ports(Host host, Optional<RunningGateway> running) {
        this.host = host;
        this.running = running;
    }

    static List<ParallelCheck> parts(Site site, Optional<RunningGateway> running) {
        return List.of(new ParallelCheck("ports", () -> new Ports(site.host(), running)
                .look(site.config())));
    }

    private List<Finding> look(GatewayConfig config) {
        List<Finding> findings = new ArrayList<>();
        running.ifPresent(gateway -> findings.add(ready(gateway)));
        findings.add(port("gateway.listen", config.gateway().listen()));
        findings.add(port("gateway.health", config.gateway().health()));
        if (config.admin().enabled()) {
            findings.add(port("admin.listen", config.admin().listen()));
        }
        return findings;
    }

    private static Finding ready(RunningGateway gateway) {
        String why = "a gateway that is not ready gets no requests from a load balancer";
        return gateway.reasonNotReady().isEmpty()
                ? ok("gateway", "one runs here, and is ready", why)
                : warn("gateway", "one runs here, but is not ready: " + gateway.reasonNotReady(),
                        why, "mend what fails below, or look at its log: journalctl -u railhead");
    }

    private Finding port(String setting, ListenAddress address) {
        String why = "the gateway cannot listen on a port in use";
        if (address.port() == 0) {
            return ok(setting, address + ": any free port", why);
        }
        InetAddress local;
        try {
            local = InetAddress.getByName(address.host());
        } catch (UnknownHostException e) {
            return fail(setting, address.host() + " is not known to the resolver", why,
                    "name an address of this machine, or 0.0.0.0");
        }
        // Never listens, so no client can connect meanwhile.
        try (Socket socket = new Socket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(local, address.port()));
            return ok(setting, address + " is free", why);
        } catch (IOException e) {
            return refused(setting, address, local, String.valueOf(e.getMessage()), why);
        }
    }

    private Finding refused(String setting, ListenAddress address, InetAddress local,
            String message, String why) {
        if (message.contains("in use")) {
            String owner = PortOwner.of(host, address.port())
                    .map(name -> " by " + name)
                    .orElse("");
            return running.isPresent()
                    ? ok(setting, address + " is taken" + owner + ", and a gateway runs here", why)
                    : fail(setting, address + " is taken" + owner + tls(local, address.port()), why,
                            "end it, or set " + setting
                                    + " to another port; ss -ltnp 'sport = :" + address.port()
                                    + "' says whose it is");
        }
        if (message.contains("Permission denied")) {
            return fail(setting, address + ": this user may not listen on that port", why,
                    "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, a port from 1024 on,"
                            + " or: sysctl -w net.ipv4.ip_unprivileged_port_start="
                            + address.port());
        }
        return fail(setting, address + ": " + message, why,
                "name an address of this machine (ip address), or 0.0.0.0");
    }

    /** Tells a gateway with another configuration: it is not recognised in cleartext. */
    private static String tls(InetAddress local, int port) {
        InetAddress there = local.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : local;
        return new TlsCheck(null).shake(there, there.getHostAddress(), port).chain().isEmpty()
                ? ""
                : ", which speaks TLS there";
    }
}
