package io.railhead.gateway;

import com.sun.management.UnixOperatingSystemMXBean;
import io.railhead.gateway.admission.Limits;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.log.RecentLines;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.status.StatusPage;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.lang.management.ThreadInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The texts of a support bundle that only the running gateway has, by file name. */
record SupportParts(Supplier<GatewayConfig> config, Metrics metrics, StatusPage status) {

    Map<String, Callable<String>> byName() {
        Map<String, Callable<String>> parts = new LinkedHashMap<>();
        parts.put("version.json", this::version);
        parts.put("config.json", this::settings);
        parts.put("limits.json", this::limits);
        parts.put("status.json", status::text);
        parts.put("metrics.txt", metrics::text);
        parts.put("audit.txt", this::audit);
        parts.put("threads.txt", SupportParts::threads);
        parts.put("log.txt", SupportParts::log);
        return parts;
    }

    private String version() {
        RuntimeMXBean process = ManagementFactory.getRuntimeMXBean();
        return JsonObject.of("version", Metrics.version(), "java", Runtime.version().toString(),
                "vm", process.getVmName(), "os",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                "processors", Runtime.getRuntime().availableProcessors(), "uptime_millis",
                process.getUptime())
                .encodePrettily();
    }

    /** Secrets among the settings are masked already, as on the status page. */
    private String settings() {
        JsonObject settings = new JsonObject();
        config.get().settings().forEach(settings::put);
        return settings.encodePrettily();
    }

    private String limits() {
        GatewayConfig current = config.get();
        Limits limits = MachineLimits.of(current);
        JsonObject found = JsonObject.of("requests", limits.requests(), "bytes", limits.bytes(),
                "connections", MachineLimits.connections(current), "heap_bytes",
                Runtime.getRuntime().maxMemory());
        if (ManagementFactory
                .getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean machine) {
            found.put("descriptors", machine.getMaxFileDescriptorCount())
                    .put("open_descriptors", machine.getOpenFileDescriptorCount());
        }
        return found.encodePrettily();
    }

    private String audit() {
        String counters = metrics.text()
                .lines()
                .filter(line -> line.startsWith("railhead_audit_"))
                .collect(Collectors.joining("\n"));
        return (config.get().audit() == null ? "the audit stream is off" : counters) + "\n";
    }

    private static String log() {
        List<String> lines = RecentLines.read();
        return (lines.isEmpty() ? "no lines are kept" : String.join("\n", lines)) + "\n";
    }

    private static String threads() {
        StringBuilder dump = new StringBuilder(64 << 10);
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean()
                .dumpAllThreads(true, true)) {
            dump.append('"')
                    .append(thread.getThreadName())
                    .append("\" ")
                    .append(thread.getThreadState())
                    .append('\n');
            for (StackTraceElement frame : thread.getStackTrace()) {
                dump.append("    at ").append(frame).append('\n');
            }
            dump.append('\n');
        }
        return dump.toString();
    }
}
