package io.railhead.cli;

import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists buckets, or a bucket's objects: one line each, tab-separated: time, bytes, name. */
@Command(name = "ls", description = "List buckets, or the objects of one.")
final class LsCommand implements Callable<Integer> {
    private static final String SCHEME = "s3://";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Option(names = "--via", paramLabel = "WAY", description = "Accepted as by get and put; lists always come over HTTP.", defaultValue = "http")
    private Via via = Via.HTTP;

    @Parameters(index = "0", arity = "0..1", paramLabel = "s3://bucket[/prefix]", description = "What to list; default: the buckets.")
    private String uri = SCHEME;

    @Override
    public Integer call() throws IOException {
        if (!uri.startsWith(SCHEME) || uri.startsWith(SCHEME + "/")) {
            throw new ParameterException(spec.commandLine(),
                    "not s3://bucket[/prefix]: '" + uri + "'");
        }
        PrintWriter out = spec.commandLine().getOut();
        try (RailheadClient client = RailheadClient.connect(store.resolve().with(via))) {
            if (uri.equals(SCHEME)) {
                client.listBuckets(
                        bucket -> out.printf(Locale.ROOT, "%s\t%s%n", bucket.created(),
                                bucket.name()));
            } else {
                String[] parts = uri.substring(SCHEME.length()).split("/", 2);
                client.list(parts[0], parts.length > 1 ? parts[1] : "", object -> out.printf(
                        Locale.ROOT, "%s\t%12d\t%s%n", object.lastModified(), object.bytes(),
                        object.key()));
            }
        } finally {
            out.flush();
        }
        return 0;
    }
}
