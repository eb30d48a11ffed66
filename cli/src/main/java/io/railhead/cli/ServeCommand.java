package io.railhead.cli;

import io.railhead.gateway.Serve;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a gateway until it is told to stop, or only reads its configuration. */
@Command(name = "serve", description = "Run a gateway.")
final class ServeCommand implements Callable<Integer> {
    @Option(names = "--config", paramLabel = "FILE", description = "Configuration (${DEFAULT-VALUE}).", defaultValue = "/etc/railhead/railhead.yaml")
    private Path config = Path.of("/etc/railhead/railhead.yaml");

    @Option(names = "--check", description = "Check the configuration and end.")
    private boolean check;

    @Override
    public Integer call() {
        Serve serve = new Serve(System.out, System.err);
        return check ? serve.check(config) : serve.run(config);
    }
}
