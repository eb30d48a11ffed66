package io.railhead.cli.site;

import io.railhead.cli.OneLine;
import io.railhead.cli.StoreOptions;
import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.reading.Manifest;
import io.railhead.cli.reading.MinimumDurations;
import io.railhead.cli.reading.Origin;
import io.railhead.cli.reading.OwnGateway;
import io.railhead.cli.reading.ReadGateway;
import io.railhead.cli.reading.ReadingRow;
import io.railhead.cli.reading.Readings;
import io.railhead.cli.reading.Table;
import io.railhead.client.ClientConfig;
import io.railhead.client.ObjectName;
import io.railhead.client.RailheadClient;
import io.railhead.client.S3Exception;
import io.railhead.client.Via;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;

/** The demo's readings with a store and objects of the user's own. */
@Command(name = "site", description = {
        "Read objects of your own store directly and through a gateway, and say what that saves.",
        "The bucket is listed and read, never written to. Each object is read from the store six times, more often where that is quick."})
public final class SiteCommand implements Callable<Integer> {
    private static final long MOST_BYTES = 16L << 30;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Option(names = "--bucket", required = true, paramLabel = "NAME", description = "Where the objects are.")
    private String bucket = "";

    @Option(names = "--prefix", paramLabel = "P", description = "Only keys that begin so.", defaultValue = "")
    private String prefix = "";

    @Option(names = "--bytes", paramLabel = "SIZE", description = "Whole objects until there is this much, as 32MiB (${DEFAULT-VALUE}). So much memory the client takes, and the gateway as much again.", defaultValue = "256MiB")
    private String bytes = "256MiB";

    @Option(names = "--objects", paramLabel = "N", description = "At most so many (${DEFAULT-VALUE}).", defaultValue = "64")
    private int objects = 64;

    @Option(names = "--via", paramLabel = "loopback|verbs", description = "How hits are delivered one-sided: in shared memory, or by RDMA (${DEFAULT-VALUE}).", defaultValue = "loopback")
    private Via via = Via.LOOPBACK;

    @Option(names = "--gateway", paramLabel = "URL", description = "A gateway that runs already, in front of that store (default: one is started here).")
    private @Nullable URI gateway;

    @Option(names = "--gateway-profile", paramLabel = "NAME", description = "Profile of the shared AWS files whose key that gateway knows (default: the store's key).")
    private @Nullable String gatewayProfile;

    @Option(names = "--freshness", paramLabel = "immutable|strong", description = "Of the gateway that is started here (immutable).")
    private @Nullable String freshness;

    @Option(names = "--seconds", paramLabel = "S", description = "For which each way is read at least, and as long before to warm up (${DEFAULT-VALUE}).", defaultValue = "4")
    private double seconds = 4;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures and words there too.")
    private @Nullable Path json;

    @Override
    public Integer call() throws IOException {
        long most = checked();
        ClientConfig config = resolve();
        try (Children children = new Children(Files.createTempDirectory("railhead-site"))) {
            Thread atEnd = new Thread(children::close, "site-cleanup");
            Runtime.getRuntime().addShutdownHook(atEnd);
            Origin origin = origin(config, most);
            List<ReadingRow> rows = read(origin, children);
            report(origin, rows);
            return 0;
        } catch (IOException e) {
            write(new SiteReport(false, config.endpoint().toString(), bucket, 0, 0, List.of(),
                    List.of()));
            throw new IOException("bench site: " + OneLine.of(e), e);
        }
    }

    /** Returns the most bytes; throws on misuse. */
    private long checked() {
        if (via != Via.LOOPBACK && via != Via.VERBS) {
            throw misused("--via: loopback or verbs, not " + via);
        }
        if (freshness != null && !freshness.equals("immutable") && !freshness.equals("strong")) {
            throw misused("--freshness: immutable or strong, not " + freshness);
        }
        if (freshness != null && gateway != null) {
            throw misused("--freshness is for a gateway that is started here, not for --gateway");
        }
        if (gatewayProfile != null && gateway == null) {
            throw misused("--gateway-profile is for a gateway that runs already, see --gateway");
        }
        if (objects < 1 || !(seconds > 0)) {
            throw misused("--objects must be >= 1 and --seconds > 0");
        }
        if (bucket.isEmpty() || bucket.contains("/")) {
            throw misused("--bucket: not a bucket's name: '" + bucket + "'");
        }
        try {
            long most = ByteCount.parse(bytes).bytes();
            if (most > MOST_BYTES) {
                throw misused("--bytes: at most 16GiB, what a gateway registers for one client");
            }
            return most;
        } catch (IllegalArgumentException e) {
            throw misused("--bytes: " + e.getMessage());
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Returns the store's configuration, after checking the gateway's address too. */
    private ClientConfig resolve() {
        ClientConfig config = store.resolve();
        if (gateway != null) {
            try {
                ClientConfig.of(gateway, config.region(), config.credentials());
            } catch (IllegalArgumentException e) {
                throw misused("--gateway: " + e.getMessage());
            }
        }
        return config.withStreams(1);
    }

    private Origin origin(ClientConfig config, long most) throws IOException {
        AwsCredentials credentials;
        try (RailheadClient client = RailheadClient.connect(config)) {
            StoredObjects stored = new StoredObjects(client, bucket, this::say);
            say("Listing s3://" + bucket + "/" + prefix + " ...");
            Choice choice = stored.choose(prefix, most, objects);
            say(taken(choice));
            say("Reading each once, for its SHA-256 ...");
            Manifest manifest = stored.digest(choice);
            credentials = config.credentials().resolveCredentials();
            return new Origin(config.endpoint(), config.region(), credentials, manifest);
        } catch (IOException | SdkException e) {
            throw new IOException("the store " + config.endpoint() + ": " + OneLine.of(e), e);
        }
    }

    private static String taken(Choice choice) {
        return String.format(Locale.ROOT, "Taking %d object%s, %.1f MiB%s.",
                choice.taken().size(), choice.taken().size() == 1 ? "" : "s",
                choice.bytes() / (double) (1 << 20), choice.tooLarge() == 0
                        ? ""
                        : "; " + choice.tooLarge() + " larger than what was left of --bytes");
    }

    private List<ReadingRow> read(Origin origin, Children children) throws IOException {
        return gateway == null
                ? throughOwn(origin, children)
                : throughGiven(origin, gateway, children);
    }

    private List<ReadingRow> throughOwn(Origin origin, Children children) throws IOException {
        Readings readings = start(origin, children);
        readings.direct();
        String own = freshness == null ? "immutable" : freshness;
        try (OwnGateway started = readings.gateway(own)) {
            readings.cold(started, origin.manifest());
            readings.hits(started);
        }
        return readings.rows();
    }

    private List<ReadingRow> throughGiven(Origin origin, URI given, Children children)
            throws IOException {
        Origin known = seenByGateway(origin, given);
        Readings direct = start(origin, children);
        direct.direct();
        Readings through = start(known, children);
        through.hits(new ReadGateway.Given(given));
        List<ReadingRow> rows = new ArrayList<>(direct.rows());
        rows.addAll(through.rows());
        return rows;
    }

    private Readings start(Origin origin, Children children) throws IOException {
        return Readings.start(origin, via,
                new MinimumDurations(MinimumDurations.STANDARD.rounds(), seconds), children,
                this::say);
    }

    /** Reads through the gateway before any measurement, so that errors name the gateway. */
    private Origin seenByGateway(Origin origin, URI given) throws IOException {
        try {
            Origin known = gatewayProfile == null ? origin : origin.readBy(key(gatewayProfile));
            ObjectName first = new ObjectName(bucket,
                    origin.manifest().entries().getFirst().key());
            try (RailheadClient client = RailheadClient.connect(known.config(given))) {
                client.head(first);
            }
            return known;
        } catch (IOException | SdkException e) {
            throw new IOException("the gateway " + given + ": " + OneLine.of(e) + hint(e), e);
        }
    }

    private String hint(Exception refused) {
        return gatewayProfile == null && refused instanceof S3Exception e && e.status() == 403
                ? ", asked with the store's key; --gateway-profile names another"
                : "";
    }

    private static AwsCredentials key(String profile) {
        try (ProfileCredentialsProvider provider = ProfileCredentialsProvider.create(profile)) {
            return provider.resolveCredentials();
        }
    }

    private void report(Origin origin, List<ReadingRow> rows) throws IOException {
        long total = origin.manifest().totalBytes();
        List<String> saving = Saving.words(rows, total);
        write(new SiteReport(true, origin.endpoint().toString(), bucket,
                origin.manifest().entries().size(), total, rows, saving));
        PrintWriter out = spec.commandLine().getOut();
        Table.print(out, rows, gateway == null
                ? "Gateway and client share this machine; the store is " + origin.endpoint() + "."
                : "The client is here, the gateway is " + gateway + ", the store "
                        + origin.endpoint()
                        + ";\nwhat the gateway used, and asked the store for, is not known here.");
        out.println();
        saving.forEach(out::println);
        out.flush();
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }

    private void write(SiteReport report) throws IOException {
        if (json != null) {
            Files.writeString(json, Json.pretty(report) + "\n");
        }
    }
}
