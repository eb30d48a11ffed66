package io.railhead.cli.disk;

import io.railhead.cache.disk.DiskContent;
import io.railhead.cache.disk.DiskFormat;
import io.railhead.cli.Sizes;
import io.railhead.cli.local.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says what a file or device holds. */
@Command(name = "show", description = "Say what a file or device holds: a gateway's pages, nothing, or something else by its name.", footer = {
        "", "Only reads, also while a gateway uses it.",
        "Exit status: 0 it was read, 1 it cannot be read, 2 misused."})
final class ShowCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "PATH", description = "File or block device.")
    private Path path = Path.of("");

    @Option(names = "--json", description = "One JSON document for programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (Files.notExists(path)) {
            throw new IOException(path + ": there is no such file or device");
        }
        if (Files.isDirectory(path)) {
            throw new IOException(path + " is a folder, and must be a file or a device");
        }
        DiskContent content = DiskFormat.look(path);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.pretty(content));
        } else {
            print(out, content);
        }
        out.flush();
        return 0;
    }

    static void print(PrintWriter out, DiskContent content) {
        line(out, "path", content.path());
        line(out, "kind", (content.isDevice() ? "device of " : "file of ")
                + Sizes.exact(content.bytes()));
        DiskContent.Volume volume = content.volume();
        if (volume == null) {
            line(out, "holds", content.words());
            return;
        }
        line(out, "holds", "pages of a gateway");
        line(out, "format", Integer.toString(volume.format()));
        line(out, "volume", volume.identifier());
        line(out, "sequence", volume.sequence() + " (times opened)");
        line(out, "size", Sizes.exact(volume.bytes()) + " in " + volume.segments()
                + " segments of " + Sizes.exact(volume.segmentBytes()));
        line(out, "page", Sizes.exact(volume.pageBytes()) + " (cache.page)");
    }

    private static void line(PrintWriter out, String name, String value) {
        out.printf("%-9s %s%n", name, value);
    }
}
