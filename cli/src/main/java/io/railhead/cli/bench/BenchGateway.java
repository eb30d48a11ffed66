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
import org.jspecify.annotations.Nullable;

/**
 * A gateway's process.
 *
 * @param name of its log, and of its configuration's file
 * @param port of S3
 * @param health its port
 */
record BenchGateway(String name, int port, int health) {
    private static final Duration READY_IN = Duration.ofMinutes(1);

    static BenchGateway onFreePorts(String name) throws IOException {
        return new BenchGateway(name, Loopback.freePort(), Loopback.freePort());
    }

    /** Begins to start it. */
    Process exec(String yaml, Cores cores, @Nullable Path recording, Children children)
            throws IOException {
        Path config = Files.writeString(children.folder().resolve(name + ".yaml"), yaml);
        List<String> options = recording == null
                ? List.of()
                : List.of("-XX:StartFlightRecording:settings=profile,filename="
                        + recording.toAbsolutePath());
        List<String> command = Children.railhead(options, "serve", "--config", config.toString());
        return children.start(name, cores.onServer(command), Map.of(),
                Redirect.appendTo(children.log(name).toFile()));
    }

    /** Starts it and waits until it is ready. */
    Server start(String yaml, Cores cores, @Nullable Path recording, Children children)
            throws IOException {
        Process process = exec(yaml, cores, recording, children);
        Loopback.await(name, process, URI.create("http://" + RawHttp.host(health) + "/readyz"),
                status -> status == 200, READY_IN, children);
        return new Server(process, port);
    }
}
