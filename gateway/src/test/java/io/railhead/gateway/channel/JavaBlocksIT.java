package io.railhead.gateway.channel;

import static io.railhead.gateway.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.NotAvailableException;
import io.railhead.client.RailheadClient;
import io.railhead.client.RegisteredBuffer;
import io.railhead.client.Via;
import io.railhead.client.Window;
import io.railhead.client.kv.Block;
import io.railhead.client.kv.KvNamespace;
import io.railhead.client.kv.Written;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import io.railhead.protocol.channel.RemovedKeys;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** The Java client's blocks over loopback; no test may cost the store a request. */
class JavaBlocksIT {
    private static final int BLOCK = 4096;
    private static final int ARENA = 4 << 20;
    private static final String POLICY = """
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": ["engine"], "Action": "s3:*",
               "Resource": ["arn:aws:s3:::kv-a", "arn:aws:s3:::kv-a/*", "arn:aws:s3:::b/*"]},
              {"Effect": "Allow", "Principal": "reader", "Action": "s3:GetObject",
               "Resource": "arn:aws:s3:::kv-a/open/*"}]}
            """;

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            gateway:
              policy: policy.json
            cache:
              memory: 64MiB
            rules:
              - bucket: kv-*
                durability: none
                ttl: 1h
            """).file("policy.json", POLICY).principals("""
            principals:
              - name: engine
                tenant: first
                keys: [{access_key: AK, secret_key: SK}]
                rdma_put: true
              - name: reader
                tenant: first
                keys: [{access_key: READER, secret_key: reader-secret}]
                rdma_put: true
            """);
    private RailheadClient client;
    private RegisteredBuffer arena;

    @BeforeEach
    void start() {
        client = client("AK", "SK");
        arena = gateway.closing(client.register(ARENA));
    }

    @AfterEach
    void theStoreKnowsNothingOfIt() {
        assertThat(store.requests()).noneMatch(line -> line.contains("kv-a/"));
    }

    private RailheadClient client(String accessKey, String secretKey) {
        return gateway.closing(RailheadClient.connect(ClientConfig.of(gateway.endpoint(),
                "us-east-1",
                StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey)))
                .with(Via.LOOPBACK)
                .with(Fallback.NONE)));
    }

    private static <T> List<T> ends(List<CompletionStage<T>> stages) {
        return stages.stream().map(stage -> stage.toCompletableFuture().join()).toList();
    }

    private Block whole(String key, int at) {
        return Block.of(key, new Window(arena, at, BLOCK));
    }

    private byte[] bytes(long at, int length) {
        return arena.memory().asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private void set(long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, arena.memory(), ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    @Test
    void hundredsOfBlocksArePutFoundReadAndDeleted() throws IOException {
        KvNamespace blocks = client.kv("s3://kv-a/m@");
        int count = 300;
        byte[] content = random(count * BLOCK);
        set(0, content);
        byte[] hashes = random(count * 32);
        List<Block> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(whole(HexFormat.of().formatHex(hashes, i * 32, i * 32 + 32), i * BLOCK));
        }
        List<String> keys = all.stream().map(Block::key).toList();
        assertThat(blocks.exists(keys).isEmpty()).isTrue();
        assertThat(ends(blocks.putIfAbsent(all))).containsOnly(Written.STORED);
        assertThat(ends(blocks.putIfAbsent(all))).containsOnly(Written.EXISTS);
        assertThat(blocks.exists(keys).cardinality()).isEqualTo(count);
        assertThat(blocks.prefix(keys)).isEqualTo(count);
        assertThat(blocks.usage().objects()).isEqualTo(count);

        arena.memory().fill((byte) 0);
        assertThat(ends(blocks.get(all))).containsOnly(true);
        assertThat(bytes(0, content.length)).isEqualTo(content);

        assertThat(blocks.delete(keys.subList(0, 1)).cardinality()).isEqualTo(1);
        assertThat(blocks.prefix(keys)).isZero();
        assertThat(ends(blocks.get(all.subList(0, 2)))).containsExactly(false, true);
        assertThat(blocks.clear()).isEqualTo(count - 1);
        assertThat(blocks.exists(keys).isEmpty()).isTrue();
    }

    @Test
    void aBlockFillsItsWindowsInTheirOrder() {
        KvNamespace blocks = client.kv("s3://kv-a/w/");
        byte[] content = random(BLOCK);
        set(0, content);
        assertThat(ends(blocks.put(List.of(whole("k", 0))))).containsExactly(Written.STORED);
        RegisteredBuffer values = gateway.closing(client.register(BLOCK));
        Block split = Block.of("k", new Window(values, 10, 1000), new Window(arena, BLOCK, 96),
                new Window(values, 2000, 1000), new Window(arena, 2 * BLOCK, 2000));
        assertThat(ends(blocks.get(List.of(split)))).containsExactly(true);
        assertThat(values.memory().asSlice(10, 1000).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Arrays.copyOf(content, 1000));
        assertThat(bytes(BLOCK, 96)).isEqualTo(Arrays.copyOfRange(content, 1000, 1096));
        assertThat(bytes(2 * BLOCK, 2000))
                .isEqualTo(Arrays.copyOfRange(content, 2096, BLOCK));
        assertThat(ends(blocks.put(List.of(split)))).containsExactly(Written.STORED);
        assertThat(ends(blocks.get(List.of(Block.of("k", new Window(arena, 0, BLOCK - 1))))))
                .containsExactly(false);
    }

    @Test
    void otherBytesOfAKeyAreRefused() {
        KvNamespace blocks = client.kv("s3://kv-a/");
        set(0, random(2 * BLOCK));
        assertThat(ends(blocks.put(List.of(whole("k", 0))))).containsExactly(Written.STORED);
        assertThatThrownBy(() -> ends(blocks.put(List.of(whole("k", BLOCK)))))
                .hasMessageContaining("ObjectAlreadyExists");
    }

    @Test
    void eachCallerHasItsRights() throws IOException {
        set(0, random(BLOCK));
        KvNamespace blocks = client.kv("s3://kv-a/");
        assertThat(ends(blocks.put(List.of(whole("open/k", 0), whole("k", 0)))))
                .containsOnly(Written.STORED);
        assertThat(blocks.lease(List.of("k", "never"), Duration.ofMinutes(1)).stream().toArray())
                .containsExactly(0);
        assertThat(blocks.usage().leasedBytes()).isEqualTo(BLOCK);
        KvNamespace reader = client("READER", "reader-secret").kv("s3://kv-a/");
        assertThat(reader.exists(List.of("open/k", "k")).stream().toArray()).containsExactly(0);
        assertThat(reader.touch(List.of("k", "open/k")).stream().toArray()).containsExactly(1);
        assertThat(reader.delete(List.of("open/k")).isEmpty()).isTrue();
        assertThat(reader.clear()).isZero();
        assertThat(reader.usage().objects()).isEqualTo(1);
    }

    @Test
    void removedBlocksAreTold() throws IOException {
        KvNamespace blocks = client.kv("s3://kv-a/told/");
        set(0, random(BLOCK));
        assertThat(ends(blocks.put(List.of(whole("k", 0))))).containsExactly(Written.STORED);
        assertThat(blocks.removals(Duration.ofSeconds(60))).isEqualTo(
                new RemovedKeys(true, List.of()));
        assertThat(blocks.removals(Duration.ofMillis(1))).isEqualTo(
                new RemovedKeys(false, List.of()));
        assertThat(blocks.delete(List.of("k")).cardinality()).isEqualTo(1);
        assertThat(blocks.removals(Duration.ofSeconds(60)).removed())
                .containsExactly(new RemovedKeys.Removed("k", RemovedKeys.Reason.DELETED));
    }

    @Test
    void aBucketOfAStoreIsNotServed() {
        assertThatThrownBy(() -> client.kv("s3://b/").exists(List.of("k")))
                .isInstanceOf(NotAvailableException.class)
                .hasMessageContaining("unsupported");
        assertThatThrownBy(() -> client.kv("s3://b/").removals(Duration.ofSeconds(1)))
                .isInstanceOf(NotAvailableException.class)
                .hasMessageContaining("unsupported");
    }
}
