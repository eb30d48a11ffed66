package io.railhead.cli.admin;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Removes a pin. */
@Command(name = "unpin", description = "Take a pin away, named as it was made.")
final class UnpinCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private ObjectsArgument objects = new ObjectsArgument();

    @Override
    public Integer call() throws IOException {
        admin.call("unpin", objects.body(), answer -> admin.print(PinCommand.pinned(answer)));
        return 0;
    }
}
