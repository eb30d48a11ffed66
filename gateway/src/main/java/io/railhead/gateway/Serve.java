package io.railhead.gateway;

import io.railhead.cache.memory.MemoryBudget;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.authorization.PolicyFile;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.DcConfig;
import io.railhead.gateway.config.FileWatch;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.IgnoredProxies;
import io.railhead.gateway.frontdoor.CleartextPolicy;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.log.ApplicationLog;
import io.railhead.gateway.rdma.session.DcKeyFile;
import io.railhead.gateway.sts.IssuerTrial;
import io.railhead.os.Hangup;
import io.railhead.os.HostLimits;
import io.railhead.os.devices.RdmaDevices;
import java.io.PrintStream;
import java.net.ProxySelector;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Implements {@code railhead serve}, from a configuration file to an exit status. */
public final class Serve {
    private static final Logger LOG = LoggerFactory.getLogger(Serve.class);

    private final PrintStream out;
    private final PrintStream err;
    private final @Nullable ToLongFunction<Duration> warmUp;

    /** Serves without a warm-up. */
    public Serve(PrintStream out, PrintStream err) {
        this(out, err, null);
    }

    /**
     * @param warmUp has the JVM compile the paths of requests, for the given time, and returns the
     *            number of requests that this took; null for no warm-up
     */
    public Serve(PrintStream out, PrintStream err,
            @Nullable ToLongFunction<Duration> warmUp) {
        this.out = out;
        this.err = err;
        this.warmUp = warmUp;
    }

    /**
     * Validates the whole configuration and prints the outlook of one-sided delivery. Returns 0 if
     * a gateway would start; else 1, with one line of the reason.
     */
    public int check(Path config) {
        ConfigCheck check = examine(config);
        check.warnings().forEach(warning -> out.println("warning: " + warning));
        if (!check.good()) {
            err.println("railhead: " + check.error());
            return 1;
        }
        out.println(config + " is good: " + check.backends() + " backend(s), "
                + check.principals() + " principal(s)");
        out.println("memory: " + check.memory());
        check.rdma().forEach(out::println);
        return 0;
    }

    /** Validates the configuration without output. */
    public static ConfigCheck examine(Path config) {
        try {
            GatewayConfig checked = ConfigLoader.load(config);
            MemoryBudget budget = budget(checked);
            String excess = budget.excess(HostLimits.read());
            if (excess != null) {
                throw new IllegalArgumentException(excess);
            }
            PageMemory.requireRoom(Gateway.memoryConfig(checked));
            FabricOpening.requireNamed(checked.rdma().loopback());
            AccessLog.requireWritable(checked.log().access());
            WatchedFiles.requireUsable(checked.audit());
            try (CredentialStore credentials = CredentialStore.open(checked.gateway())) {
                CleartextPolicy.require(checked, credentials.areOfSeveralTenants());
                requireDcKey(checked.rdma().dc(), credentials.areOfSeveralTenants());
                WatchedFiles.requireUsable(checked);
                OpenStores.requireAuthorities(checked.backends());
                List<String> warnings = warnings(checked, credentials);
                warnings.addAll(DiskOpening.warnings(checked));
                return new ConfigCheck(true, "", warnings,
                        checked.backends().size(), credentials.principals().size(),
                        budget.toString(),
                        new RdmaOutlook(checked.rdma()).lines(RdmaDevices.read()));
            }
        } catch (ConfigException | IllegalArgumentException e) {
            return ConfigCheck.failed(String.valueOf(e.getMessage()));
        }
    }

    private static MemoryBudget budget(GatewayConfig config) {
        return MemoryBudget.of(Gateway.memoryConfig(config),
                config.cache().diskMemory().indexBytes());
    }

    /**
     * Logs the memory budget. A start goes on even above the limit: the worst case need not occur.
     */
    private static void tellBudget(MemoryBudget budget) {
        String excess = budget.excess(HostLimits.read());
        if (excess == null) {
            LOG.info("memory at most: {}", budget);
        } else {
            LOG.warn("{}; the kernel may kill it", excess);
        }
    }

    private static void requireDcKey(DcConfig dc, boolean severalTenants) {
        if (dc.enabled()) {
            DcKeyFile.require(dc, DcKeyFile.read(dc), severalTenants);
        }
    }

    private static List<String> warnings(GatewayConfig config, CredentialStore credentials)
            throws ConfigException {
        List<String> warnings = new ArrayList<>(config.warnings());
        warnings.addAll(ofAccess(config, credentials));
        warnings.addAll(credentials.idleRevocations());
        warnings.addAll(IssuerTrial.warnings(config.gateway().webIdentity()));
        List<String> proxies = IgnoredProxies.among(System.getenv().keySet(),
                System.getProperties().stringPropertyNames());
        if (!proxies.isEmpty()) {
            warnings.add(String.join(", ", proxies)
                    + " ignored: a store's proxy is named under backends.NAME.proxy alone");
        }
        Set<String> tenants = new TreeSet<>(config.cache().tenants().keySet());
        tenants.removeIf(credentials::hasTenant);
        tenants.forEach(tenant -> warnings
                .add("cache.tenants." + tenant + ": no principal is of that tenant"));
        return warnings;
    }

    /**
     * Returns warnings about principals that share a backend credential, unless a policy tells them
     * apart.
     */
    private static List<String> ofAccess(GatewayConfig config, CredentialStore credentials)
            throws ConfigException {
        Path policy = config.gateway().access().policy();
        if (policy == null) {
            return credentials.warnings();
        }
        try (PolicyFile file = PolicyFile.load(policy)) {
            return file.warnings(credentials::isPrincipal, credentials::isClaim);
        }
    }

    /**
     * Serves until SIGTERM or SIGINT, then drains; reads its files again on SIGHUP. Returns only if
     * the start failed: a stop ends the process, with status 0, or 1 if a part could not be
     * stopped.
     */
    public int run(Path config) {
        // Set before the JDK's TLS is loaded, which reads it: a renegotiation costs a server more
        // than its client.
        System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
        // Only the configuration may name proxies; the JDK would take them from system properties.
        ProxySelector.setDefault(ProxySelector.of(null));
        // Handled from the first moment: an early SIGHUP must not end the process.
        AtomicReference<Runnable> onHangup = new AtomicReference<>(() -> {});
        Hangup.handle(() -> Thread.ofVirtual().name("hangup").start(onHangup.get()));
        boolean json = false;
        try {
            GatewayConfig loaded = ConfigLoader.load(config);
            ApplicationLog.configure(loaded.log());
            json = loaded.log().json();
            tellBudget(budget(loaded));
            CredentialStore credentials = CredentialStore.open(loaded.gateway());
            warnings(loaded, credentials).forEach(warning -> LOG.warn("{}", warning));
            warmUp(loaded);
            Gateway gateway = Gateway.start(loaded, credentials);
            credentials.watch();
            FileWatch file = gateway.follow(config);
            onHangup.set(() -> {
                LOG.info("SIGHUP: reading {} again", config);
                credentials.reload();
                file.reread();
            });
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> stop(gateway, credentials), "drain"));
            String ready = "railhead is ready and serves " + gateway.inWords();
            if (json) {
                LOG.info("{}", ready);
            } else {
                out.println(ready);
            }
            new CountDownLatch(1).await();
            return 0;
        } catch (ConfigException | IllegalArgumentException e) {
            refuse(String.valueOf(e.getMessage()), json);
            return 1;
        } catch (RuntimeException | Error e) {
            LOG.debug("start failed", e);
            refuse("cannot start: " + rootMessage(e), json);
            return 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
    }

    /** Warms up as configured. What fails here is told, and never stops a start. */
    void warmUp(GatewayConfig config) {
        Duration most = config.gateway().warmUp();
        if (warmUp == null || most.isZero()) {
            return;
        }
        long began = System.nanoTime();
        try {
            // Nothing else runs yet: only the lines of the warm-up's own gateway are missing.
            ApplicationLog.level(Level.ERROR);
            long requests = warmUp.applyAsLong(most);
            ApplicationLog.level(config.log().level());
            LOG.info("warmed up by {} requests in {} ms", requests,
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
        } catch (RuntimeException | Error e) {
            ApplicationLog.level(config.log().level());
            LOG.warn("no warm-up, so the first requests are slow: {}", rootMessage(e));
        }
    }

    /** Reports the reason as a JSON line once the configuration has enabled JSON logs. */
    private void refuse(String reason, boolean json) {
        if (json) {
            LOG.error("railhead: {}", reason);
        } else {
            err.println("railhead: " + reason);
        }
    }

    /** Stops the process after the drain, with its own status: a signal's would not be 0. */
    private static void stop(Gateway gateway, CredentialStore credentials) {
        int status = 0;
        try {
            LOG.info("draining");
            gateway.close();
            credentials.close();
            LOG.info("stopped");
        } catch (RuntimeException | Error e) {
            LOG.error("could not stop in order", e);
            status = 1;
        }
        Runtime.getRuntime().halt(status);
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }
}
