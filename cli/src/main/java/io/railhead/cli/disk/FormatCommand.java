package io.railhead.cli.disk;

import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskContent;
import io.railhead.cache.disk.DiskFormat;
import io.railhead.cache.disk.DiskRefusedException;
import io.railhead.gateway.config.ByteCount;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes an empty volume of a file or device. */
@Command(name = "format", description = "Make an empty volume of a file or device. All that it holds is lost.", footer = {
        "", "Refused: what is mounted or otherwise in use, and what a gateway uses.",
        "What holds something is only formatted with --yes, or after a question on a terminal.",
        "A gateway needs no format of a blank device, or of a file that is not there yet.",
        "Example: railhead disk format /dev/disk/by-id/nvme-example",
        "Example: railhead disk format /var/lib/railhead/disk --size 500GiB",
        "Exit status: 0 formatted, 1 refused or failed, 2 misused."})
final class FormatCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(paramLabel = "PATH", description = "File or block device. A file is made if there is none.")
    private Path path = Path.of("");

    @Option(names = "--size", paramLabel = "SIZE", description = "As cache.disk.size, such as 500GiB; default: the whole device or existing file.")
    private @Nullable String size;

    @Option(names = "--page", paramLabel = "SIZE", description = "As cache.page (${DEFAULT-VALUE}).", defaultValue = "256KiB")
    private String page = "256KiB";

    @Option(names = "--yes", description = "Drop what it holds without a question.")
    private boolean yes;

    @Override
    public Integer call() throws IOException, DiskRefusedException {
        long bytes = size == null ? 0 : size("--size", size);
        long pageBytes = size("--page", page);
        if (pageBytes < 64 << 10 || pageBytes > 1 << 20 || Long.bitCount(pageBytes) != 1) {
            throw misused("--page: must be a power of two from 64KiB to 1MiB: " + page);
        }
        if (Files.isDirectory(path)) {
            throw misused(path + " is a folder, and must be a file or a device");
        }
        if (Files.notExists(path) && bytes == 0) {
            throw misused(path + ": there is no such file or device; --size makes a file");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (DiskFormat disk = DiskFormat.open(path.toString(), bytes)) {
            requireConsent(disk.content());
            ShowCommand.print(out, disk.format((int) pageBytes));
            out.flush();
            return 0;
        }
    }

    private long size(String option, String text) {
        try {
            long bytes = ByteCount.parse(text).bytes();
            long excess = bytes % DiskConfig.UNIT_BYTES;
            if (excess != 0) {
                throw new IllegalArgumentException("must be a multiple of "
                        + DiskConfig.UNIT_BYTES + " bytes, such as " + (bytes - excess) + ": "
                        + text);
            }
            return bytes;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }

    private void requireConsent(DiskContent content) throws IOException {
        if (yes || content.isBlank()) {
            return;
        }
        String held = path + " holds " + content.words();
        @SuppressWarnings("SystemConsoleNull") // A JDK told to use java.base alone has none.
        Console console = System.console();
        if (console == null || !console.isTerminal()) {
            throw new IOException(held + ": add --yes to drop that");
        }
        String answer = console.readLine("%s. All of it will be lost. Type yes to go on: ", held);
        if (!"yes".equals(answer)) {
            throw new IOException("nothing was changed");
        }
    }

    private ParameterException misused(String line) {
        return new ParameterException(spec.commandLine(), line);
    }
}
