package io.railhead.cli.dev;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Installation;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.client.ClientConfig;
import io.railhead.client.RailheadClient;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Runs a development site in one terminal: a store in memory, a gateway, and the environment to
 * paste. Ctrl-C ends both and discards their content.
 */
@Command(name = "dev", description = "Run a store in memory and a gateway until Ctrl-C; print the environment to paste.")
public final class DevCommand implements Callable<Integer> {
    private static final int USUAL_PORT = 9000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--port", paramLabel = "PORT", description = "S3 port of the gateway (default: 9000 if it is free, else any).")
    private int port;

    @Option(names = "--bucket", paramLabel = "NAME", description = "Bucket to create (${DEFAULT-VALUE}).", defaultValue = "dev")
    private String bucket = "dev";

    @Option(names = "--cache", paramLabel = "SIZE", description = "Memory of the gateway's cache (${DEFAULT-VALUE}).", defaultValue = "256MiB")
    private String cache = "256MiB";

    @Option(names = "--store", paramLabel = "SIZE", description = "Bytes of objects that the store has room for (${DEFAULT-VALUE}).", defaultValue = "256MiB")
    private String store = "256MiB";

    @Override
    public Integer call() throws IOException {
        ByteCount cacheMemory = size("--cache", cache);
        ByteCount stored = size("--store", store);
        if (port != 0 && !Loopback.isFree(port)) {
            throw new ParameterException(spec.commandLine(),
                    "--port: " + port + " is taken; leave the option out to have any free port");
        }
        try (Children children = new Children(Files.createTempDirectory("railhead-dev"))) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(children), "dev-cleanup"));
            say("Starting an S3 store in memory (s3proxy) ...");
            LocalStore origin = LocalStore.start(Installation.here().store(),
                    new LocalStore.Keys("DEVACCESSKEY", "dev-secret-key"), stored.bytes(),
                    children);
            say("Starting a gateway ...");
            DevGateway gateway = DevGateway.start(choosePort(), cacheMemory, origin, children);
            createBucket(gateway, origin.keys());
            invite(gateway, origin.keys());
            throw firstEnd(origin, gateway, children);
        }
    }

    /** Returns status 0: Ctrl-C is the intended end of this command. */
    private static void end(Children children) {
        children.close();
        Runtime.getRuntime().halt(0);
    }

    private int choosePort() throws IOException {
        if (port != 0) {
            return port;
        }
        return Loopback.isFree(USUAL_PORT) ? USUAL_PORT : Loopback.freePort();
    }

    private ByteCount size(String option, String text) {
        try {
            return ByteCount.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }

    private void createBucket(DevGateway gateway, LocalStore.Keys keys) throws IOException {
        AwsBasicCredentials pair = AwsBasicCredentials.create(keys.accessKey(), keys.secretKey());
        try (RailheadClient client = RailheadClient.connect(ClientConfig.of(gateway.endpoint(),
                "us-east-1", StaticCredentialsProvider.create(pair)))) {
            client.createBucket(bucket);
        }
    }

    private void invite(DevGateway gateway, LocalStore.Keys keys) {
        say("""

                Ready. Paste this into another terminal:

                  export AWS_ENDPOINT_URL=%s AWS_REGION=us-east-1
                  export AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s

                Then any S3 client works, and Railhead's own:

                  echo hello > hello.txt
                  ./railhead put hello.txt s3://%s/hello.txt --via loopback
                  ./railhead get s3://%s/hello.txt -o - --via loopback

                Status page  %s
                Metrics      %smetrics

                All objects are in memory and go when this command ends. Ctrl-C ends it."""
                .formatted(gateway.endpoint().toString().replaceFirst("/$", ""), keys.accessKey(),
                        keys.secretKey(), bucket, bucket, gateway.statusPage(),
                        gateway.health()));
    }

    /** Waits for either process to end, which is a failure. */
    private static IOException firstEnd(LocalStore store, DevGateway gateway, Children children) {
        CompletableFuture<String> storeEnd = store.process().onExit().thenApply(_ -> "store");
        CompletableFuture<String> gatewayEnd = gateway.process()
                .onExit()
                .thenApply(_ -> DevGateway.NAME);
        String ended = String.valueOf(CompletableFuture.anyOf(storeEnd, gatewayEnd).join());
        return new IOException("the " + ended + " ended: " + children.lastWords(ended));
    }

    private void say(String text) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(text);
        out.flush();
    }
}
