package io.railhead.cli.bench;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Loopback;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An HTTP cache that is not ours, started with the configuration in {@code benchmarks/peers}. */
enum RivalCache {
    NGINX("nginx", "-v", "nginx.conf"),
    VARNISH("varnishd", "-V", "varnish.vcl"),
    TRAFFIC_SERVER("traffic_server", "-V", "trafficserver");

    private static final Duration READY_IN = Duration.ofMinutes(1);
    private static final List<String> TRAFFIC_SERVER_FOLDERS = List.of("data", "include", "lib",
            "plugins", "state", "run", "log", "cachedir", "cache");

    private final String program;
    private final String versionOption;
    private final String template;

    RivalCache(String program, String versionOption, String template) {
        this.program = program;
        this.versionOption = versionOption;
        this.template = template;
    }

    /** Null for what is not one. */
    static @Nullable RivalCache of(MeasuredSystem measuredSystem) {
        return switch (measuredSystem) {
            case NGINX, NGINX_COPY -> NGINX;
            case VARNISH -> VARNISH;
            case TRAFFIC_SERVER -> TRAFFIC_SERVER;
            case DIRECT, RAILHEAD_SIGNED, RAILHEAD_UNSIGNED, RAILHEAD_STRONG, RAILHEAD_TOKEN,
                    RAILHEAD_NATIVE, COPY ->
                null;
        };
    }

    /** Null where it is not installed. */
    @Nullable
    String version() throws IOException {
        Path found = Programs.find(program);
        return found == null ? null : Programs.version(found, versionOption);
    }

    /**
     * Starts it and waits until it answers with an object of the store.
     *
     * @param templates benchmarks/peers
     * @param object its path
     */
    Server start(MeasuredSystem measuredSystem, Path templates, int storePort, String object,
            Cores cores,
            Children children) throws IOException {
        Path folder = Files.createDirectories(children.folder().resolve(measuredSystem.id));
        int port = Loopback.freePort();
        Map<String, String> values = Map.of("FOLDER", folder.toString(), "PORT",
                Integer.toString(port), "STORE", Integer.toString(storePort), "WORKERS",
                Integer.toString(cores.serverCount()), "SENDFILE",
                measuredSystem == MeasuredSystem.NGINX_COPY ? "off" : "on", "USER",
                System.getProperty("user.name").equals("root") ? "user root;" : "");
        fill(templates.resolve(template), folder, values);
        Process process = children.start(measuredSystem.id,
                cores.onServer(command(folder, port, cores)),
                Map.of(), Redirect.appendTo(children.log(measuredSystem.id).toFile()));
        Loopback.await(measuredSystem.id, process,
                URI.create("http://" + RawHttp.host(port) + object),
                status -> status == 200, READY_IN, children);
        return new Server(process, port);
    }

    private static void fill(Path template, Path folder, Map<String, String> values)
            throws IOException {
        if (!Files.isDirectory(template)) {
            Path target = folder.resolve(String.valueOf(template.getFileName()));
            Files.writeString(target, filled(Files.readString(template), values));
            return;
        }
        Path conf = Files.createDirectories(folder.resolve("conf"));
        for (String name : TRAFFIC_SERVER_FOLDERS) {
            Files.createDirectories(folder.resolve(name));
        }
        try (Stream<Path> files = Files.list(template)) {
            for (Path file : files.toList()) {
                fill(file, conf, values);
            }
        }
    }

    static String filled(String text, Map<String, String> values) {
        String result = text;
        for (Map.Entry<String, String> value : values.entrySet()) {
            result = result.replace("@" + value.getKey() + "@", value.getValue());
        }
        return result;
    }

    private List<String> command(Path folder, int port, Cores cores) {
        String found = String.valueOf(Programs.find(program));
        return switch (this) {
            case NGINX -> List.of(found, "-c", folder.resolve(template).toString(), "-e",
                    folder.resolve("error.log").toString());
            // As the user who starts it, without a management port; one pool of threads for each
            // core.
            case VARNISH -> List.of(found, "-F", "-j", "none", "-T", "none", "-f",
                    folder.resolve(template).toString(), "-a", RawHttp.host(port), "-s",
                    "malloc,1g", "-n", folder.resolve("work").toString(), "-p",
                    "thread_pools=" + cores.serverCount());
            case TRAFFIC_SERVER -> List.of(found,
                    "--run-root=" + folder.resolve("conf").resolve("runroot.yaml"));
        };
    }
}
