package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Takes a gateway out of service, or back in. */
@Command(name = "drain", description = "Report not ready (503 at /readyz), so that load balancers send new clients elsewhere. The process keeps running and still serves every request that arrives.")
final class DrainCommand implements Callable<Integer> {
    private static final long LONGEST_SECONDS = 3600;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Option(names = "--undo", description = "Be ready again.")
    private boolean undo;

    @Option(names = "--wait", paramLabel = "DURATION", description = "Wait at most this long, such as 30s, for running requests; exit 1 if some still run.", defaultValue = "0s")
    private String wait = "0s";

    @Override
    public Integer call() throws IOException {
        long seconds = Durations.seconds(spec, "--wait", wait);
        if (seconds > LONGEST_SECONDS) {
            throw new ParameterException(spec.commandLine(), "--wait: at most 1h");
        }
        JsonNode last = admin.call("drain", AdminOptions.JSON.createObjectNode()
                .put("undo", undo)
                .put("wait_seconds", seconds), this::show);
        return last.path("state").asText().equals("done") ? 0 : 1;
    }

    private void show(JsonNode answer) {
        admin.print((answer.path("draining").asBoolean() ? "draining" : "ready again") + ", "
                + answer.path("in_flight").asLong() + " requests under way");
    }
}
