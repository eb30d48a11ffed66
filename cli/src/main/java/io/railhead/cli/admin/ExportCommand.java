package io.railhead.cli.admin;

import io.railhead.cli.ProgressLine;
import io.railhead.cli.Sizes;
import io.railhead.client.AdminClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Copies one pending write into a file. */
@Command(name = "export", description = "Copy one pending object, or the parts of an open upload one after the other, into FILE, and its name, ETag, headers and parts into FILE.json. The bytes are checked. FILE.json comes last: without it FILE is not whole.")
final class ExportCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private PendingArgument write = new PendingArgument();

    @Option(names = {"-o",
            "--output"}, required = true, paramLabel = "FILE", description = "Where to write; existing files are not replaced.")
    private Path output = Path.of("");

    @Override
    public Integer call() throws IOException {
        Path description = output.resolveSibling(output.getFileName() + ".json");
        for (Path path : List.of(output, description)) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(path + " exists already; name another file by --output");
            }
        }
        String body = write.body().toString();
        try (AdminClient client = admin.connect();
                ProgressLine progress = new ProgressLine(spec.commandLine().getErr(),
                        ProgressLine.isTerminal())) {
            client.read("export", body,
                    bytes -> new ExportedWrite(output, description, progress).write(bytes));
        }
        admin.print("written: " + output + ", " + Sizes.exact(Files.size(output)) + ", and "
                + description);
        return 0;
    }
}
