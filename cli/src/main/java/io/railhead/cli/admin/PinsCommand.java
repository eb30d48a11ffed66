package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the pins. */
@Command(name = "pins", description = "List the pins: objects and memory that each keeps now.")
final class PinsCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Override
    public Integer call() throws IOException {
        admin.call("pins", AdminOptions.JSON.createObjectNode(), this::show);
        return 0;
    }

    private void show(JsonNode answer) {
        for (JsonNode pin : answer.path("pins")) {
            String name = "s3://" + pin.path("bucket").asText() + "/"
                    + (pin.has("key")
                            ? pin.path("key").asText()
                            : pin.path("prefix").asText() + " --recursive");
            admin.print(pin.path("objects").asLong() + "\t"
                    + AdminOptions.mebibytes(pin.path("bytes")) + "\t" + name);
        }
        admin.print(PinCommand.pinned(answer));
    }
}
