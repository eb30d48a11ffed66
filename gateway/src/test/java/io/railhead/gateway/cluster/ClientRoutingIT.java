package io.railhead.gateway.cluster;

import static io.railhead.gateway.RandomBytes.random;
import static io.railhead.gateway.TestGateway.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.S3Exception;
import io.railhead.client.Via;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.placement.Ownership;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** A client asks the owner of each part itself, over a session with each gateway. */
class ClientRoutingIT {
    private static final int RUN = 8 << 20;
    private static final int RUNS = 5;
    private static final String CONFIG = """
            cache: {memory: 64MiB, page: 64KiB, run: 8MiB, window: 16MiB}
            rules:
              - {bucket: kv, durability: none, ttl: 1h}
              - {freshness: {bounded: 1h}, authorization: {remember: 1h}}
            """;
    private static final String POLICY = """
            {"Version": "2012-10-17",
             "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*",
                            "Resource": "*"}]}
            """;
    private static final String MOVED = "railhead_fabric_bytes_total{fabric=\"loopback\",direction=\"write\",}";

    private final ThreeGateways three = new ThreeGateways(CONFIG, ", policy: policy.json",
            Map.of("policy.json", POLICY));
    private final RailheadClient client = client(three.gateways.getFirst());
    private @Nullable TestGateway stopped;

    private static RailheadClient client(TestGateway home) {
        return RailheadClient.connect(ClientConfig
                .of(home.endpoint(), "us-east-1",
                        StaticCredentialsProvider.create(AwsBasicCredentials.create("AK", "SK")))
                .with(Via.LOOPBACK)
                .with(Fallback.NONE));
    }

    @BeforeEach
    void awaitEndpoints() {
        await(() -> three.clients.stream().allMatch(each -> members(each).size() == 3));
    }

    @AfterEach
    void close() {
        client.close();
        try {
            three.gateways.stream()
                    .filter(each -> each != stopped)
                    .forEach(
                            TestGateway::assertNoLease);
        } finally {
            three.close();
        }
    }

    private static int ownerOf(String key, long index) {
        long run = Ownership.run("b", key, index);
        int owner = 0;
        for (int i = 1; i < 3; i++) {
            if (Long.compareUnsigned(Ownership.score(Ownership.member("g" + i), run),
                    Ownership.score(Ownership.member("g" + owner), run)) > 0) {
                owner = i;
            }
        }
        return owner;
    }

    private byte[] read(String key) throws IOException {
        byte[] read = new byte[RUNS * RUN];
        client.get(new ObjectName("b", key),
                (offset, bytes) -> bytes.get(read, (int) offset, bytes.remaining()),
                Progress.NONE);
        return read;
    }

    @Test
    void eachPartComesFromItsOwner() throws IOException {
        awaitSessions();
        double[] before = moved();
        byte[] object = random(1, RUNS * RUN);
        three.store.put("/b/object", object);
        assertThat(read("object")).isEqualTo(object);
        double[] after = moved();
        long[] owned = new long[3];
        for (int i = 0; i < RUNS; i++) {
            owned[ownerOf("object", i)] += RUN;
        }
        assertThat(Arrays.stream(owned).filter(bytes -> bytes > 0).count()).isGreaterThan(1);
        for (int i = 0; i < 3; i++) {
            assertThat(after[i] - before[i]).as("g" + i).isEqualTo((double) owned[i]);
        }
    }

    private double[] moved() {
        return three.gateways.stream().mapToDouble(each -> each.metric(MOVED)).toArray();
    }

    /** Sessions with owners are opened in the background; until then all goes home. */
    private void awaitSessions() {
        int[] key = new int[1];
        await(() -> {
            String name = "warm" + key[0]++;
            three.store.put("/b/" + name, new byte[100]);
            try {
                client.get(new ObjectName("b", name), (_, _) -> {}, Progress.NONE);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return Arrays.stream(moved()).allMatch(bytes -> bytes > 0);
        });
    }

    /** Each gateway has an object of this name, with other bytes: the client sees home's alone. */
    @Test
    void cacheOnlyObjectsOfOtherGatewaysAreNotRead() throws IOException {
        awaitSessions();
        for (int i = 0; i < 6; i++) {
            for (int gateway = 0; gateway < 3; gateway++) {
                assertThat(three.clients.get(gateway)
                        .put("/kv/mine" + i, random(10 * i + gateway, 1000))
                        .statusCode()).isEqualTo(200);
            }
            byte[] read = new byte[1000];
            client.get(new ObjectName("kv", "mine" + i),
                    (offset, bytes) -> bytes.get(read, (int) offset, bytes.remaining()),
                    Progress.NONE);
            assertThat(read).isEqualTo(random(10 * i, 1000));
        }
    }

    /** Cache-only objects are each gateway's own: here the one's that the client was given. */
    @Test
    void whatTheOwnerDoesNotHaveIsAskedAtHome() throws IOException {
        for (int i = 0; i < 6; i++) {
            byte[] object = random(i, 100_000);
            String key = "object" + i;
            HttpResponse<byte[]> stored = three.clients.getFirst().put("/kv/" + key, object);
            assertThat(stored.statusCode()).as(new String(stored.body(), UTF_8)).isEqualTo(200);
            byte[] read = new byte[object.length];
            client.get(new ObjectName("kv", key),
                    (offset, bytes) -> bytes.get(read, (int) offset, bytes.remaining()),
                    Progress.NONE);
            assertThat(read).isEqualTo(object);
            assertThatThrownBy(() -> client.get(new ObjectName("kv", "absent" + key), (_, _) -> {},
                    Progress.NONE)).isInstanceOf(S3Exception.class)
                    .hasMessageContaining("NoSuchKey");
        }
        assertThat(three.store.count("GET /kv/")).isZero();
    }

    /** Its requests go to the gateway that the client was given, and nothing fails. */
    @Test
    void anOwnerThatGoesIsDoneWithout() throws IOException {
        awaitSessions();
        byte[] object = random(2, RUNS * RUN);
        three.store.put("/b/before", object);
        assertThat(read("before")).isEqualTo(object);
        stopped = three.gateways.getLast();
        stopped.close();
        for (int i = 0; i < 3; i++) {
            three.store.put("/b/after" + i, object);
            assertThat(read("after" + i)).isEqualTo(object);
        }
        await(() -> members(three.clients.getFirst()).size() == 2);
    }

    @Test
    void theDirectoryNamesOwnersAndTheirRule() {
        JsonObject placement = placement(three.clients.get(1));
        assertThat(placement.getString("rule")).isEqualTo(Ownership.VERSION);
        assertThat(placement.getLong("run")).isEqualTo(RUN);
        assertThat(placement.getJsonObject("members").getMap()).isEqualTo(Map.of("g0", url(0),
                "g1", url(1), "g2", url(2)));
    }

    private String url(int gateway) {
        return three.gateways.get(gateway).endpoint().toString();
    }

    private static JsonObject placement(TestClient client) {
        return new JsonObject(new String(client.get("/.railhead/endpoints").body(), UTF_8))
                .getJsonObject("placement");
    }

    private static JsonObject members(TestClient client) {
        return placement(client).getJsonObject("members", new JsonObject());
    }
}
