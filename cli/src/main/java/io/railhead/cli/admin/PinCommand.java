package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Keeps objects from being evicted. */
@Command(name = "pin", description = "Protect the cached pages of some objects, present and future, from eviction, until the gateway ends.")
final class PinCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private ObjectsArgument objects = new ObjectsArgument();

    @Override
    public Integer call() throws IOException {
        admin.call("pin", objects.body(), answer -> admin.print(pinned(answer)));
        return 0;
    }

    static String pinned(JsonNode answer) {
        return AdminOptions.mebibytes(answer.path("pinned_bytes")) + " pinned, of "
                + AdminOptions.mebibytes(answer.path("limit_bytes")) + " that may be";
    }
}
