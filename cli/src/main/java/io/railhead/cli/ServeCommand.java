package io.railhead.cli;

import io.railhead.cli.local.Json;
import io.railhead.cli.training.WarmUp;
import io.railhead.gateway.ConfigCheck;
import io.railhead.gateway.Serve;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a gateway until it is stopped, or only checks its configuration. */
@Command(name = "serve", description = "Run a gateway.")
final class ServeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--config", paramLabel = "FILE", description = "Configuration (${DEFAULT-VALUE}).", defaultValue = "/etc/railhead/railhead.yaml")
    private Path config = Path.of("/etc/railhead/railhead.yaml");

    @Option(names = "--check", description = "Check the configuration and end.")
    private boolean check;

    @Option(names = "--json", description = "Write what --check finds as one JSON object.")
    private boolean json;

    @Override
    public Integer call() {
        if (json && !check) {
            throw new ParameterException(spec.commandLine(), "--json goes with --check");
        }
        if (json) {
            ConfigCheck found = Serve.examine(config);
            spec.commandLine().getOut().println(Json.pretty(found));
            spec.commandLine().getOut().flush();
            return found.good() ? 0 : 1;
        }
        Serve serve = new Serve(System.out, System.err, WarmUp::run);
        return check ? serve.check(config) : serve.run(config);
    }
}
