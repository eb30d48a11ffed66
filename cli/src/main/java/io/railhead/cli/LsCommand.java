package io.railhead.cli;

import io.railhead.cli.local.Json;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
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

    @Mixin
    private TellOptions tell = new TellOptions();

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
        long begun = System.nanoTime();
        PrintWriter out = spec.commandLine().getOut();
        try (RailheadClient client = RailheadClient.connect(store.resolve().with(via))) {
            Listing listing = uri.equals(SCHEME) ? buckets(client, out) : objects(client, out);
            if (!tell.isJson()) {
                tell.tell(listing.after((System.nanoTime() - begun) / 1_000_000));
            }
        } finally {
            out.flush();
        }
        return 0;
    }

    /** The totals of a listing. */
    private record Listing(String of, long count, long bytes, long millis) {
        Listing after(long spent) {
            return new Listing(of, count, bytes, spent);
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%,d %s, %,d bytes, %,d ms, http", count, of, bytes,
                    millis);
        }
    }

    private Listing buckets(RailheadClient client, PrintWriter out) throws IOException {
        LongAdder count = new LongAdder();
        client.listBuckets(bucket -> {
            count.increment();
            out.println(tell.isJson()
                    ? Json.line(bucket)
                    : bucket.created() + "\t" + bucket.name());
        });
        return new Listing("buckets", count.sum(), 0, 0);
    }

    private Listing objects(RailheadClient client, PrintWriter out) throws IOException {
        LongAdder count = new LongAdder();
        LongAdder bytes = new LongAdder();
        String[] parts = uri.substring(SCHEME.length()).split("/", 2);
        client.list(parts[0], parts.length > 1 ? parts[1] : "", object -> {
            count.increment();
            bytes.add(object.bytes());
            out.println(tell.isJson()
                    ? Json.line(object)
                    : String.format(Locale.ROOT, "%s\t%12d\t%s", object.lastModified(),
                            object.bytes(), object.key()));
        });
        return new Listing("objects", count.sum(), bytes.sum(), 0);
    }
}
