package io.railhead.cli;

import io.railhead.client.ObjectInfo;
import io.railhead.client.ObjectName;
import io.railhead.client.RailheadClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Stores one file, or standard input, as an object. */
@Command(name = "put", description = "Store a file as an object.")
final class PutCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Mixin
    private ViaOptions via = new ViaOptions();

    @Mixin
    private TellOptions tell = new TellOptions();

    @Option(names = "--resume", description = "Where it breaks off, keep what the store has of it, and go on there the next time.")
    private boolean resume;

    @Parameters(index = "0", paramLabel = "FILE", description = "What to store; - is the standard input.")
    private Path file = Path.of("");

    @Parameters(index = "1", paramLabel = "s3://bucket/key", description = "The object; after a / or a bucket alone it gets FILE's name.")
    private String uri = "";

    @Override
    public Integer call() throws IOException {
        boolean isInput = file.toString().equals("-");
        if (isInput && resume) {
            throw new ParameterException(spec.commandLine(),
                    "--resume needs a file; the standard input cannot be read again");
        }
        ObjectName name = Uris.destination(spec, uri, file);
        try (RailheadClient client = RailheadClient.connect(via.of(store.resolve()));
                ProgressLine progress = tell.progress()) {
            ObjectInfo stored = isInput
                    ? client.put(System.in, name, progress)
                    : put(client, name, progress);
            tell(stored, client, progress);
        }
        return 0;
    }

    private void tell(ObjectInfo stored, RailheadClient client, ProgressLine progress) {
        progress.close();
        Fallbacks.report(client, spec.commandLine().getErr());
        tell.tell(Transferred.of(stored, progress, via.via(), client));
    }

    private ObjectInfo put(RailheadClient client, ObjectName name, ProgressLine progress)
            throws IOException {
        return resume
                ? client.resumePut(file, name, progress)
                : client.put(file, name, progress);
    }
}
