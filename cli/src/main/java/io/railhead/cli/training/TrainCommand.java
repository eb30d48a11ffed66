package io.railhead.cli.training;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Loopback;
import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.log.ApplicationLog;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * Starts a gateway in this JVM and exercises all its main paths, so that a JVM with
 * {@code -XX:AOTCacheOutput} records the loaded classes (JEP 483, 514). The launcher and the
 * image's build run it. It uses the loopback address and a folder of its own.
 */
@Command(name = "train", hidden = true, description = "Do a little of everything, for an AOT cache.")
public final class TrainCommand implements Callable<Integer> {
    private static final AwsBasicCredentials KEYS = AwsBasicCredentials.create("TRAINACCESSKEY",
            "train-secret-key");
    private static final int KEYS_READ = 8;
    private static final int ROUNDS = 2;

    @Override
    public Integer call() throws IOException, ConfigException {
        try (Children folder = new Children(Files.createTempDirectory("railhead-train"));
                TrainingStore store = new TrainingStore()) {
            GatewayConfig config = ConfigLoader.load(configure(folder.folder(), store.port()));
            ApplicationLog.configure(config.log());
            try (CredentialStore credentials = CredentialStore.open(config.gateway());
                    Gateway gateway = Gateway.start(config, credentials)) {
                credentials.watch();
                Loopback.ask(uri(gateway.healthPort()).resolve("/readyz"));
                for (Via via : new Via[]{Via.HTTP, Via.TOKEN, Via.LOOPBACK}) {
                    use(uri(gateway.port()), via, folder.folder().resolve("object"));
                }
                Loopback.ask(uri(gateway.healthPort()).resolve("/metrics"));
            }
        }
        return 0;
    }

    private static URI uri(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Writes the configuration, with one revalidated bucket and one that is not. */
    private static Path configure(Path folder, int storePort) throws IOException {
        Files.createFile(folder.resolve("credentials.yaml"), PosixFilePermissions
                .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - name: train
                    keys: [{access_key: %s, secret_key: %s}]
                    rdma_get: true
                    rdma_put: true
                """.formatted(KEYS.accessKeyId(), KEYS.secretAccessKey()));
        Files.write(folder.resolve("object"), new byte[TrainingStore.OBJECT_BYTES]);
        return Files.writeString(folder.resolve("railhead.yaml"),
                """
                        gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: credentials.yaml}
                        cache: {memory: 128MiB}
                        backends:
                          store: {endpoints: ["http://127.0.0.1:%d"], region: us-east-1}
                        rules:
                          - {bucket: immutable, freshness: immutable, authorization: {remember: 10m}}
                        rdma:
                          loopback: {enabled: true, socket: "%s"}
                        admin: {listen: "127.0.0.1:0"}
                        """
                        .formatted(storePort, folder.resolve("loopback.sock")));
    }

    private static void use(URI endpoint, Via via, Path object) throws IOException {
        ClientConfig config = ClientConfig.of(endpoint, "us-east-1",
                StaticCredentialsProvider.create(KEYS)).with(via).with(Fallback.NONE);
        try (RailheadClient client = RailheadClient.connect(config)) {
            for (String bucket : new String[]{"strong", "immutable"}) {
                client.put(object, new ObjectName(bucket, "written"), Progress.NONE);
                for (int read = 0; read < ROUNDS * KEYS_READ; read++) {
                    ObjectName name = new ObjectName(bucket, via + "/" + read % KEYS_READ);
                    client.get(name, (_, _) -> {}, Progress.NONE);
                }
                client.head(new ObjectName(bucket, "read"));
                client.list(bucket, "", _ -> {});
            }
        }
    }
}
