package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.UnfinishedUploadException;
import io.railhead.client.Via;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Uploads to a real store that break off, with the gateway or beside it, and go on through it. */
class PutResumeIT {
    private static final String ID = "aws.accessKeyId";
    private static final String SECRET = "aws.secretAccessKey";
    private static final int PART = 8 << 20;
    private static final int BYTES = 5 * PART + 1000;

    @TempDir
    static Path shared;

    private static Children children;
    private static LocalStore store;
    private static GatewayConfig loaded;
    private static int port;

    @TempDir
    Path folder;

    @BeforeAll
    static void startStore() throws Exception {
        children = new Children(Files.createTempDirectory("put-it"));
        LocalStore.Keys keys = new LocalStore.Keys("PUTKEY", "put-secret");
        System.setProperty(ID, keys.accessKey());
        System.setProperty(SECRET, keys.secretKey());
        store = LocalStore.start(Path.of("target/s3proxy/s3proxy.jar").toAbsolutePath(), keys,
                4L * BYTES, children);
        try (RailheadClient client = RailheadClient.connect(config(store.endpoint()))) {
            client.createBucket("mine");
        }
        port = Loopback.freePort();
        Files.writeString(shared.resolve("c.yaml"), """
                principals:
                  - name: writer
                    rdma_get: true
                    rdma_put: true
                    keys: [{access_key: '%s', secret_key: '%s'}]
                """.formatted(keys.accessKey(), keys.secretKey()));
        loaded = ConfigLoader.load(Files.writeString(shared.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:%d", health: "127.0.0.1:0", credentials: c.yaml}
                cache: {memory: 128MiB}
                backends: {store: {endpoints: ["%s"]}}
                rdma: {loopback: {socket: loopback.sock}}
                admin: {enabled: false}
                """.formatted(port, store.endpoint())));
    }

    @AfterAll
    static void end() {
        System.clearProperty(ID);
        System.clearProperty(SECRET);
        children.close();
    }

    private static ClientConfig config(URI endpoint) {
        return ClientConfig.of(endpoint, "us-east-1", StaticCredentialsProvider
                .create(AwsBasicCredentials.create(System.getProperty(ID),
                        System.getProperty(SECRET))))
                .withStreams(1);
    }

    private static URI gatewayEndpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    private static RailheadClient client(Via via) {
        return RailheadClient
                .connect(config(gatewayEndpoint()).with(via).with(Fallback.NONE));
    }

    private interface Use {
        void run(Gateway gateway) throws Exception;
    }

    private static void withGateway(Use use) throws Exception {
        try (CredentialStore credentials = CredentialStore.open(loaded.gateway());
                Gateway gateway = Gateway.start(loaded, credentials)) {
            use.run(gateway);
        }
    }

    /** Does something once so many parts are there. */
    private static Progress after(int parts, Runnable then) {
        return new Progress() {
            private int told;

            @Override
            public void expect(long totalBytes) {}

            @Override
            public void advance(long bytes) {
                if (++told == parts) {
                    then.run();
                }
            }
        };
    }

    private Path file(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return Files.write(folder.resolve("file"), content);
    }

    private void assertStored(Path file, ObjectName name) throws IOException {
        Path received = folder.resolve("received");
        try (RailheadClient direct = RailheadClient.connect(config(store.endpoint()))) {
            direct.get(name, received, Progress.NONE);
        }
        assertThat(Files.mismatch(file, received)).isEqualTo(-1);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(file, received);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN", "LOOPBACK"})
    void anUploadOutlivesItsGatewayAndItsClient(Via via) throws Exception {
        Path file = file(BYTES);
        ObjectName name = new ObjectName("mine", "a key/" + via);

        withGateway(gateway -> {
            try (RailheadClient client = client(via)) {
                assertThatThrownBy(
                        () -> client.resumePut(file, name, after(2, gateway::close)))
                        .isInstanceOf(UnfinishedUploadException.class);
            }
        });
        withGateway(_ -> {
            try (RailheadClient client = client(via)) {
                assertThatThrownBy(() -> client.resumePut(file, name, after(4, () -> {
                    throw new IllegalStateException("as if killed");
                }))).hasMessage("as if killed");
                assertThat(client.parts()).as("two were there").isEqualTo(2);
            }
            try (RailheadClient client = client(via)) {
                client.resumePut(file, name, Progress.NONE);
                assertThat(client.parts()).as("four were there").isEqualTo(2);
            }
        });
        assertStored(file, name);
    }

    @Test
    void theCommandGoesOnOverHttp() throws Exception {
        Path file = file((64 << 20) + 1);
        ObjectName name = new ObjectName("mine", "by the command");
        withGateway(_ -> {
            try (RailheadClient client = RailheadClient.connect(config(gatewayEndpoint()))) {
                assertThatThrownBy(() -> client.resumePut(file, name, after(2, () -> {
                    throw new IllegalStateException("as if killed");
                }))).hasMessage("as if killed");
            }
            StringWriter err = new StringWriter();
            CommandLine line = Main.commandLine();
            line.setErr(new PrintWriter(err, true));
            assertThat(line.execute("put", "--resume", "--endpoint", gatewayEndpoint().toString(),
                    file.toString(), name.toString())).as(err.toString()).isZero();
        });
        assertStored(file, name);
    }
}
