package io.railhead.cli.admin;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Erases what a tenant has in the cache. */
@Command(name = "erase", description = "Erase what was cached for a tenant: its pages in memory, and by its key those on encrypted disks.")
final class EraseCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Parameters(index = "0", paramLabel = "TENANT", description = "The tenant, as in the credentials file.")
    private String tenant = "";

    @Override
    public Integer call() throws IOException {
        admin.call("erase", AdminOptions.JSON.createObjectNode().put("tenant", tenant),
                answer -> admin.print("erased; of " + answer.path("objects").asLong()
                        + " objects, " + AdminOptions.mebibytes(answer.path("bytes"))
                        + " were in memory"));
        return 0;
    }
}
