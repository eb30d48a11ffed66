package io.railhead.cli.demo;

import io.railhead.cli.OneLine;
import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.Json;
import io.railhead.cli.reading.ReadingReport;
import io.railhead.cli.reading.ReadingRow;
import io.railhead.cli.reading.Table;
import io.railhead.client.Via;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows a gateway's effect on this machine: several ways to read the same files, measured. */
@Command(name = "demo", description = "Start a store, a gateway and a client here; read files in several ways; print what it cost.")
public final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--data", paramLabel = "DIR", description = "Files to read (default: the JDK's modules and this program's jars).")
    private @Nullable Path data;

    @Option(names = "--bytes", paramLabel = "SIZE", description = "At most this much, as 32MiB (${DEFAULT-VALUE}).", defaultValue = "256MiB")
    private String bytes = "256MiB";

    @Option(names = "--via", paramLabel = "loopback|verbs", description = "How hits are delivered one-sided: in shared memory, or by RDMA (${DEFAULT-VALUE}).", defaultValue = "loopback")
    private Via via = Via.LOOPBACK;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures there too.")
    private @Nullable Path json;

    @Override
    public Integer call() throws IOException {
        long most = most();
        Via oneSided = oneSided();
        Installation here = Installation.here();
        List<Path> files = data == null ? DemoFiles.standard(here.jars()) : DemoFiles.under(data);
        PrintWriter out = spec.commandLine().getOut();
        try (Children children = new Children(Files.createTempDirectory("railhead-demo"))) {
            Thread atEnd = new Thread(children::close, "demo-cleanup");
            Runtime.getRuntime().addShutdownHook(atEnd);
            List<ReadingRow> rows = new Demo(oneSided, children,
                    here.store(),
                    line -> {
                        out.println(line);
                        out.flush();
                    }).run(DemoFiles.choose(files, most, children.folder()));
            write(new ReadingReport(true, rows));
            Table.print(out, rows, "Store, gateway and client share this machine.");
            return 0;
        } catch (IOException e) {
            write(new ReadingReport(false, List.of()));
            throw new IOException("the demo failed: " + OneLine.of(e), e);
        }
    }

    private Via oneSided() {
        if (via == Via.LOOPBACK || via == Via.VERBS) {
            return via;
        }
        throw new ParameterException(spec.commandLine(),
                "--via: the demo shows loopback or verbs, not " + via);
    }

    private long most() {
        try {
            long most = ByteCount.parse(bytes).bytes();
            if (most > 0) {
                return most;
            }
            throw new IllegalArgumentException("bytes must be > 0: " + most);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--bytes: " + e.getMessage(), e);
        }
    }

    private void write(ReadingReport readingReport) throws IOException {
        if (json != null) {
            Files.writeString(json, Json.pretty(readingReport) + "\n");
        }
    }
}
