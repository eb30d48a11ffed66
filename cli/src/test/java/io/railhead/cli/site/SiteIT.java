package io.railhead.cli.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.BenchLine;
import io.railhead.cli.local.Children;
import io.railhead.cli.local.Json;
import io.railhead.cli.local.LocalStore;
import io.railhead.cli.local.Loopback;
import io.railhead.client.ClientConfig;
import io.railhead.client.ListedObject;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.gateway.Gateway;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.identity.CredentialStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Against a store of s3proxy's, as short as can be: what is said of speed is not looked at. */
class SiteIT {
    private static final String ID = "aws.accessKeyId";
    private static final String SECRET = "aws.secretAccessKey";
    private static final String PROFILES = "aws.sharedCredentialsFile";
    private static final String BUCKET = "mine";

    @TempDir
    static Path folder;

    private static Children children;
    private static LocalStore store;
    private static ClientConfig config;

    @BeforeAll
    static void fillAStore() throws IOException {
        children = new Children(Files.createTempDirectory("site-it"));
        LocalStore.Keys keys = new LocalStore.Keys("SITEKEY", "site: \"secret\"/+#");
        System.setProperty(ID, keys.accessKey());
        System.setProperty(SECRET, keys.secretKey());
        store = LocalStore.start(Path.of("target/s3proxy/s3proxy.jar").toAbsolutePath(), keys,
                8 << 20, children);
        config = ClientConfig.of(store.endpoint(), "us-east-1", StaticCredentialsProvider
                .create(AwsBasicCredentials.create(keys.accessKey(), keys.secretKey())));
        try (RailheadClient client = RailheadClient.connect(config)) {
            client.createBucket(BUCKET);
            put(client, "in/a b", 3 << 20);
            put(client, "in/c", 100_000);
            put(client, "in/huge", 5 << 20);
            put(client, "out/d", 1000);
        }
    }

    private static void put(RailheadClient client, String key, int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        client.put(Files.write(folder.resolve("object"), bytes), new ObjectName(BUCKET, key),
                Progress.NONE);
    }

    @AfterAll
    static void end() {
        System.clearProperty(ID);
        System.clearProperty(SECRET);
        children.close();
    }

    private static BenchLine.Outcome site(String... more) {
        List<String> line = new ArrayList<>(
                List.of("bench", "site", "--endpoint", store.endpoint().toString()));
        line.addAll(List.of(more));
        return BenchLine.run(line.toArray(String[]::new));
    }

    @Test
    void everyWayIsMeasuredAndPutIntoWordsAndNothingIsWritten() throws IOException {
        List<ListedObject> before = listed();
        Path json = folder.resolve("site.json");

        BenchLine.Outcome outcome = site("--bucket", BUCKET, "--prefix", "in/", "--bytes",
                "4MiB", "--seconds", "0.1", "--json", json.toString());

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("Taking 2 objects, 3.1 MiB; 1 larger than")
                .contains("the store was asked for each byte once.", "the store was not asked.");
        JsonNode report = Json.read(Files.readString(json), JsonNode.class);
        assertThat(report.required("verified").asBoolean()).isTrue();
        assertThat(report.required("rows")).extracting(row -> row.required("path").asText())
                .containsExactly("direct", "cold", "http-hit", "rdma-hit", "native-hit");
        assertThat(report.required("saving")).hasSize(4);
        assertThat(report.required("rows").required(1).required("backend_bytes").asLong())
                .isEqualTo(report.required("bytes").asLong());
        assertThat(listed()).isEqualTo(before);
    }

    private static List<ListedObject> listed() throws IOException {
        List<ListedObject> objects = new ArrayList<>();
        try (RailheadClient client = RailheadClient.connect(config)) {
            client.list(BUCKET, "", objects::add);
        }
        assertThat(objects).hasSize(4);
        return objects;
    }

    /** The store itself stands for a gateway that has no one-sided delivery. */
    @Test
    void whatCannotBeMeasuredIsOneLine() throws IOException {
        assertThat(site("--bucket", BUCKET, "--prefix", "out/", "--seconds", "0.05", "--gateway",
                store.endpoint().toString()).err()).startsWith("railhead: bench site: ")
                .contains("not served via token")
                .hasLineCount(1);
        assertThat(site("--bucket", "absent").err()).contains("the store http", "NoSuchBucket")
                .hasLineCount(1);
        assertThat(site("--bucket", BUCKET, "--prefix", "none/").err())
                .contains("there is no object with any bytes in s3://mine/none/");
        assertThat(site("--bucket", BUCKET, "--bytes", "10B").err())
                .contains("is larger than --bytes");
        String nobody = "http://127.0.0.1:" + Loopback.freePort();
        assertThat(site("--bucket", BUCKET, "--gateway", nobody).err())
                .contains("the gateway " + nobody + ": cannot connect");
        assertThat(BenchLine.run("bench", "site", "--bucket", BUCKET, "--endpoint", nobody).err())
                .contains("the store " + nobody + ": cannot connect");
    }

    /** As most sites have it: a key of its own for each, and the gateway has the store's. */
    @Test
    void aGatewayMayKnowAnotherKeyThanTheStore() throws Exception {
        Path yaml = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {listen: "127.0.0.1:0", health: "127.0.0.1:0", credentials: c.yaml}
                cache: {memory: 64MiB}
                backends: {store: {endpoints: ["%s"]}}
                rdma: {loopback: {socket: loopback.sock}}
                admin: {enabled: false}
                """.formatted(store.endpoint()));
        Files.writeString(folder.resolve("c.yaml"), """
                principals:
                  - name: rack
                    keys: [{access_key: RACK, secret_key: rack-secret}]
                    backend_credential: {access_key: '%s', secret_key: '%s'}
                """.formatted(store.keys().accessKey(), store.keys().secretKey()));
        System.setProperty(PROFILES, Files.writeString(folder.resolve("profiles"), """
                [rack]
                aws_access_key_id = RACK
                aws_secret_access_key = rack-secret
                """).toString());
        GatewayConfig loaded = ConfigLoader.load(yaml);
        Path json = folder.resolve("given.json");
        try (CredentialStore credentials = CredentialStore.open(loaded.gateway());
                Gateway gateway = Gateway.start(loaded, credentials)) {
            String url = "http://127.0.0.1:" + gateway.port();
            assertThat(site("--bucket", BUCKET, "--prefix", "out/", "--gateway", url).err())
                    .contains("the gateway " + url, "AccessDenied", "--gateway-profile");
            assertThat(site("--bucket", BUCKET, "--gateway", url, "--gateway-profile", "nobody")
                    .err()).contains("the gateway " + url, "nobody").hasLineCount(1);

            BenchLine.Outcome outcome = site("--bucket", BUCKET, "--prefix", "out/", "--gateway",
                    url, "--gateway-profile", "rack", "--seconds", "0.1", "--json",
                    json.toString());

            assertThat(outcome.status()).as(outcome.err()).isZero();
        } finally {
            System.clearProperty(PROFILES);
        }
        assertThat(Json.read(Files.readString(json), JsonNode.class).required("rows"))
                .extracting(row -> row.required("path").asText())
                .containsExactly("direct", "http-hit", "rdma-hit", "native-hit");
    }

    @Test
    void wrongKeysAreSaid() {
        System.setProperty(SECRET, "wrong");
        try {
            assertThat(site("--bucket", BUCKET).err()).contains("SignatureDoesNotMatch")
                    .hasLineCount(1);
        } finally {
            System.setProperty(SECRET, store.keys().secretKey());
        }
    }

    @Test
    void misuseIsStatusTwo() {
        for (String[] wrong : List.of(new String[]{"--via", "http"},
                new String[]{"--freshness", "always"}, new String[]{"--bytes", "much"},
                new String[]{"--objects", "0"}, new String[]{"--seconds", "0"},
                new String[]{"--gateway", "nowhere"},
                new String[]{"--gateway-profile", "rack"},
                new String[]{"--gateway", "http://127.0.0.1:1", "--freshness", "strong"})) {
            List<String> line = new ArrayList<>(List.of("--bucket", BUCKET));
            line.addAll(List.of(wrong));
            assertThat(site(line.toArray(String[]::new)).status()).as(line.toString())
                    .isEqualTo(2);
        }
        assertThat(site().status()).isEqualTo(2);
    }
}
