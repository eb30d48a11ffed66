package io.railhead.gateway.object.cacheonly;

import static io.railhead.gateway.RandomBytes.random;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rules that say durability: none, at a start, at a reload, and beside a store's own buckets. */
class CacheOnlyRulesIT {
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::*"}]}
            """;
    private static final String GATEWAY = """
            gateway: {policy: policy.json}
            cache: {memory: 320MiB}
            """;
    private static final String NONE = GATEWAY + """
            rules:
              - {bucket: kv-*, durability: none}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .config(NONE)
            .file("policy.json", POLICY);
    private final TestClient client = gateway.client();

    private int status(String path) {
        return client.get(path).statusCode();
    }

    @Test
    void anObjectOf64MiBIsKeptFromOnePut() {
        byte[] object = random(1, 64 << 20);
        assertThat(client.put("/kv-a/large", object).statusCode()).isEqualTo(200);
        assertThat(client.get("/kv-a/large").body()).isEqualTo(object);
        assertThat(store.requests()).isEmpty();
    }

    @Test
    void aBucketThatAStoreHasIsNotServed() throws Exception {
        store.put("/", """
                <ListAllMyBucketsResult><Buckets><Bucket><Name>kv-real</Name></Bucket>
                <Bucket><Name>other</Name></Bucket></Buckets></ListAllMyBucketsResult>
                """.getBytes(UTF_8));
        gateway.reconfigure(NONE);
        TestGateway.await(() -> status("/kv-real/k") == 503);
        HttpResponse<byte[]> put = client.put("/kv-real/k", new byte[10]);
        assertThat(put.statusCode()).isEqualTo(503);
        assertThat(new String(put.body(), UTF_8)).contains("A store has the bucket kv-real");
        assertThat(client.put("/kv-free/k", new byte[10]).statusCode()).isEqualTo(200);
        assertThat(store.requests()).noneMatch(request -> request.contains("/k "));
    }

    @Test
    void aRefusalStaysWhileTheStoreDoesNotAnswer() throws Exception {
        store.put("/", """
                <ListAllMyBucketsResult><Buckets><Bucket><Name>kv-real</Name></Bucket>
                </Buckets></ListAllMyBucketsResult>
                """.getBytes(UTF_8));
        gateway.reconfigure(NONE);
        TestGateway.await(() -> status("/kv-real/k") == 503);
        store.fault((exchange, _) -> {
            FakeStore.answerQuietly(exchange, 403);
            return true;
        });
        long asked = store.count("GET / ");
        gateway.reconfigure(NONE);
        TestGateway.await(() -> store.count("GET / ") > asked);
        assertThat(client.put("/kv-real/k", new byte[10]).statusCode()).isEqualTo(503);
        assertThat(status("/kv-real/k")).isEqualTo(503);
    }

    @Test
    void anEarlierRuleTakesItsKeysOut() throws Exception {
        assertThat(client.put("/kv-a/p/k", new byte[]{1}).statusCode()).isEqualTo(200);
        assertThat(client.put("/kv-a/k", new byte[]{1}).statusCode()).isEqualTo(200);
        gateway.reconfigure(GATEWAY + """
                rules:
                  - {bucket: kv-a, prefix: p/}
                  - {bucket: kv-*, durability: none}
                """);
        gateway.reconfigure(NONE);
        assertThat(status("/kv-a/p/k")).isEqualTo(404);
        assertThat(client.get("/kv-a/k").body()).isEqualTo(new byte[]{1});
    }

    @Test
    void objectsGoWithTheirRuleAndWithTheProcess() throws Exception {
        store.put("/kv-a/k", new byte[]{7});
        assertThat(client.put("/kv-a/k", new byte[]{1}).statusCode()).isEqualTo(200);
        gateway.reconfigure(NONE);
        assertThat(client.get("/kv-a/k").body()).isEqualTo(new byte[]{1});
        gateway.reconfigure(GATEWAY);
        assertThat(client.get("/kv-a/k").body()).isEqualTo(new byte[]{7});
        gateway.reconfigure(NONE);
        assertThat(status("/kv-a/k")).isEqualTo(404);
        assertThat(client.put("/kv-a/k", new byte[]{1}).statusCode()).isEqualTo(200);
        gateway.restart(NONE);
        assertThat(status("/kv-a/k")).isEqualTo(404);
    }
}
