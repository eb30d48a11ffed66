package io.railhead.cli;

import io.railhead.cli.local.Json;
import io.railhead.client.ObjectName;
import io.railhead.client.Prefetched;
import io.railhead.client.RailheadClient;
import io.railhead.client.S3Exception;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a gateway prefetch objects under the caller's identity. */
@Command(name = "prefetch", description = "Bring objects into the gateway's cache.")
final class PrefetchCommand implements Callable<Integer> {
    private static final int MOST_AT_ONCE = 64;
    private static final int FORBIDDEN = 403;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Option(names = "--concurrency", paramLabel = "N", description = "Objects at a time (${DEFAULT-VALUE}).", defaultValue = "8")
    private int concurrency = 8;

    @Option(names = "--json", description = "Write one JSON object a line.")
    private boolean json;

    @Parameters(arity = "1..*", paramLabel = "s3://bucket/key", description = "The objects; after a / or a bucket alone all below it.")
    private List<String> uris = List.of();

    @Override
    public Integer call() throws IOException {
        if (concurrency < 1 || concurrency > MOST_AT_ONCE) {
            throw new ParameterException(spec.commandLine(),
                    "--concurrency: 1 to " + MOST_AT_ONCE + ", not " + concurrency);
        }
        try (RailheadClient client = RailheadClient.connect(store.resolve());
                ExecutorService threads = Executors.newFixedThreadPool(concurrency,
                        Thread.ofVirtual().factory())) {
            List<Future<Prefetched>> begun = new ArrayList<>();
            for (ObjectName name : names(client)) {
                begun.add(threads.submit(() -> prefetch(client, name)));
            }
            return tell(begun, threads);
        }
    }

    private List<ObjectName> names(RailheadClient client) throws IOException {
        List<ObjectName> names = new ArrayList<>();
        for (String uri : uris) {
            Uris.Folder folder = Uris.folder(uri);
            if (folder == null) {
                names.add(Uris.object(spec, uri));
            } else {
                client.list(folder.bucket(), folder.prefix(),
                        object -> names.add(new ObjectName(folder.bucket(), object.key())));
            }
        }
        return names;
    }

    /** Prefetches one object. A forbidden object must not stop the others. */
    private static Prefetched prefetch(RailheadClient client, ObjectName name)
            throws IOException {
        try {
            return client.prefetch(name);
        } catch (S3Exception e) {
            if (e.status() != FORBIDDEN) {
                throw e;
            }
            return new Prefetched(name, "failed", 0, String.valueOf(e.getMessage()));
        }
    }

    /** Reports the results; returns exit status 0 if all objects are cached now. */
    private int tell(List<Future<Prefetched>> begun, ExecutorService threads) throws IOException {
        boolean areHeld = true;
        for (Future<Prefetched> each : begun) {
            try {
                Prefetched done = each.get();
                areHeld &= done.isHeld();
                print(done);
            } catch (ExecutionException e) {
                threads.shutdownNow();
                throw e.getCause() instanceof IOException failure
                        ? failure
                        : new IOException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
        return areHeld ? 0 : 1;
    }

    private record Line(String url, String state, long bytes, String reason) {}

    private void print(Prefetched done) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(json
                ? Json.line(new Line(done.name().toString(), done.state(), done.bytes(),
                        done.reason()))
                : String.format(Locale.ROOT, "%s\t%12d\t%s%s", done.state(), done.bytes(),
                        done.name(), done.reason().isEmpty() ? "" : "\t" + done.reason()));
        out.flush();
    }
}
