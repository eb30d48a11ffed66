package io.railhead.cli;

import io.railhead.client.ObjectInfo;
import io.railhead.client.ObjectName;
import io.railhead.client.RailheadClient;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Reads one object into a file or to standard output. */
@Command(name = "get", description = "Read an object.")
final class GetCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Mixin
    private ViaOptions via = new ViaOptions();

    @Mixin
    private TellOptions tell = new TellOptions();

    @Option(names = {"-o",
            "--output"}, paramLabel = "FILE", description = "Where to; - is the standard output; default: the key's last part.")
    private @Nullable String output;

    @Option(names = "--resume", description = "Where it breaks off, keep what has come beside FILE, and go on there the next time.")
    private boolean resume;

    @Parameters(index = "0", paramLabel = "s3://bucket/key", description = "The object.")
    private String uri = "";

    @Override
    public Integer call() throws IOException {
        ObjectName name = Uris.object(spec, uri);
        if ("-".equals(output)) {
            if (resume) {
                throw new ParameterException(spec.commandLine(),
                        "--resume needs a file; the standard output keeps nothing");
            }
            if (tell.isJson()) {
                throw new ParameterException(spec.commandLine(),
                        "--json needs a file; the standard output has the object's bytes");
            }
            toStandardOutput(name);
        } else {
            toFile(name, target(name));
        }
        return 0;
    }

    private Path target(ObjectName name) {
        String leaf = name.key().substring(name.key().lastIndexOf('/') + 1);
        if (output == null && leaf.isEmpty()) {
            throw new IllegalArgumentException(name + " names no file: give --output");
        }
        Path target = Path.of(output == null ? leaf : output);
        if (output != null && output.endsWith("/") && !Files.isDirectory(target)) {
            throw new IllegalArgumentException("no such directory: " + output);
        }
        return Files.isDirectory(target) && !leaf.isEmpty() ? target.resolve(leaf) : target;
    }

    private void toFile(ObjectName name, Path file) throws IOException {
        try (RailheadClient client = RailheadClient.connect(via.of(store.resolve()));
                ProgressLine progress = tell.progress()) {
            ObjectInfo read = resume
                    ? client.resume(name, file, progress)
                    : client.get(name, file, progress);
            tell(read, client, progress);
        }
    }

    private void tell(ObjectInfo read, RailheadClient client, ProgressLine progress) {
        progress.close();
        Fallbacks.report(client, spec.commandLine().getErr());
        tell.tell(Transferred.of(read, progress, via.via(), client));
    }

    /** Writes to standard output, in order and therefore one part after the other. */
    private void toStandardOutput(ObjectName name) throws IOException {
        OutputStream out = System.out;
        try (RailheadClient client = RailheadClient
                .connect(via.of(store.resolve()).withStreams(1));
                ProgressLine progress = tell.progress()) {
            WritableByteChannel channel = Channels.newChannel(out);
            ObjectInfo read = client.get(name, (offset, bytes) -> {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }, progress);
            out.flush();
            if (System.out.checkError()) {
                throw new IOException("the standard output was closed");
            }
            tell(read, client, progress);
        }
    }
}
