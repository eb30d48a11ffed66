package io.railhead.cli.admin;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Evicts objects from a gateway. */
@Command(name = "evict", description = "Evict the cached pages of some objects, pinned or not, under every account.")
final class EvictCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private ObjectsArgument objects = new ObjectsArgument();

    @Override
    public Integer call() throws IOException {
        admin.call("evict", objects.body(),
                answer -> admin.print(answer.path("objects").asLong() + " objects forgotten, "
                        + AdminOptions.mebibytes(answer.path("bytes"))));
        return 0;
    }
}
