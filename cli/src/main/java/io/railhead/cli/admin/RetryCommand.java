package io.railhead.cli.admin;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Has pending writes tried again. */
@Command(name = "retry", description = "Have the oldest pending write of each bucket tried now, without waiting for its pause. 'railhead admin pending' shows what came of it.")
final class RetryCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Override
    public Integer call() throws IOException {
        admin.call("retry", AdminOptions.JSON.createObjectNode(),
                _ -> admin.print("the oldest pending write of each bucket is tried now"));
        return 0;
    }
}
