package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows or changes log levels. */
@Command(name = "log-level", description = "Show the levels that are set, or set one, such as io.railhead.gateway DEBUG.")
final class LogLevelCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Parameters(index = "0", arity = "0..1", paramLabel = "LOGGER", description = "A class, a package, or ROOT.")
    private @Nullable String logger;

    @Parameters(index = "1", arity = "0..1", paramLabel = "LEVEL", description = "OFF, ERROR, WARN, INFO, DEBUG, TRACE, or INHERIT from the package above.")
    private @Nullable String level;

    @Option(names = "--for", paramLabel = "DURATION", description = "Only so long, such as 10m; then as before.")
    private @Nullable String limit;

    @Override
    public Integer call() throws IOException {
        ObjectNode body = AdminOptions.JSON.createObjectNode();
        if (logger != null) {
            body.put("logger", logger);
        }
        if (level != null) {
            body.put("level", level.toUpperCase(Locale.ROOT));
        }
        if (limit != null) {
            if (level == null) {
                throw new ParameterException(spec.commandLine(), "--for needs a level");
            }
            body.put("for_seconds", Durations.seconds(spec, "--for", limit));
        }
        admin.call("log-level", body, this::show);
        return 0;
    }

    private void show(JsonNode answer) {
        if (answer.has("logger")) {
            admin.print(line(answer));
        }
        answer.path("loggers").forEach(each -> admin.print(line(each)));
    }

    private static String line(JsonNode logger) {
        return logger.path("level").asText() + "\t" + logger.path("logger").asText()
                + (logger.has("until") ? "\tuntil " + logger.path("until").asText() : "");
    }
}
