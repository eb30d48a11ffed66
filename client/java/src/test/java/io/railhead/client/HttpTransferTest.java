package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** The client against a real store, over HTTP. */
class HttpTransferTest {
    private static final int MIB = 1 << 20;

    @TempDir
    static Path shared;

    private static StoreProcess store;
    private static RailheadClient client;

    @TempDir
    Path folder;

    private long seed;

    @BeforeAll
    static void startStore() throws IOException {
        store = new StoreProcess(shared);
        client = RailheadClient.connect(store.config());
        client.createBucket("bucket");
    }

    @AfterAll
    static void stopStore() {
        client.close();
        store.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB})
    void aFileComesBackAsItWent(int bytes) throws IOException {
        Path sent = randomFile(bytes);
        ObjectName name = new ObjectName("bucket", "sizes/" + bytes);

        client.put(sent, name, Progress.NONE);
        Path received = folder.resolve("received");
        ObjectInfo info = client.get(name, received, Progress.NONE);

        assertThat(info.bytes()).isEqualTo(bytes);
        assertThat(Files.mismatch(sent, received)).isEqualTo(-1);
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void aLargeFileIsUploadedInParts() throws IOException {
        Path sent = randomFile(64 * MIB + 3);
        ObjectName name = new ObjectName("bucket", "large");

        ObjectInfo stored = client.put(sent, name, Progress.NONE);
        client.get(name, folder.resolve("received"), Progress.NONE);

        assertThat(stored.etag()).contains("-5");
        assertThat(Files.mismatch(sent, folder.resolve("received"))).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b+c", "ünï/cödé", "per%cent", "a=b&c?d#e", "a:b~c'(d)*", "+"})
    void oddKeysAreKept(String key) throws IOException {
        Path sent = randomFile(100);
        ObjectName name = new ObjectName("bucket", "odd/" + key);

        client.put(sent, name, Progress.NONE);
        List<String> keys = new ArrayList<>();
        client.list("bucket", "odd/" + key, object -> keys.add(object.key()));
        client.get(name, folder.resolve("received"), Progress.NONE);

        assertThat(keys).contains("odd/" + key);
        assertThat(Files.mismatch(sent, folder.resolve("received"))).isEqualTo(-1);
    }

    @Test
    void oneStreamDeliversInOrderOnTheCallersThread() throws IOException {
        ObjectName name = new ObjectName("bucket", "in-order");
        client.put(randomFile(30 * MIB), name, Progress.NONE);
        List<Long> offsets = new ArrayList<>();

        try (RailheadClient single = RailheadClient.connect(store.config().withStreams(1))) {
            Thread caller = Thread.currentThread();
            single.get(name, (offset, bytes) -> {
                assertThat(Thread.currentThread()).isSameAs(caller);
                offsets.add(offset);
            }, Progress.NONE);
        }

        assertThat(offsets).containsExactly(0L, 8L * MIB, 16L * MIB, 24L * MIB);
    }

    @Test
    void aListingCrossesPages() throws IOException {
        Path file = randomFile(1);
        for (int i = 0; i < 7; i++) {
            client.put(file, new ObjectName("bucket", "pages/" + i), Progress.NONE);
        }
        List<String> keys = new ArrayList<>();

        try (S3Http http = new S3Http(store.config())) {
            new Listings(http).objects("bucket", "pages/", 3, object -> keys.add(object.key()));
        }

        assertThat(keys).containsExactly("pages/0", "pages/1", "pages/2", "pages/3", "pages/4",
                "pages/5", "pages/6");
    }

    @Test
    void bucketsAreListed() throws IOException {
        List<String> names = new ArrayList<>();
        client.listBuckets(bucket -> names.add(bucket.name()));
        assertThat(names).contains("bucket");
    }

    @Test
    void aMissingKeyNamesItsCodeAndLeavesAnOlderFileAlone() throws IOException {
        Path older = Files.writeString(folder.resolve("older"), "older");

        assertThatThrownBy(
                () -> client.get(new ObjectName("bucket", "missing"), older, Progress.NONE))
                .isInstanceOfSatisfying(S3Exception.class, e -> {
                    assertThat(e.code()).isEqualTo("NoSuchKey");
                    assertThat(e.status()).isEqualTo(404);
                });
        assertThat(older).hasContent("older");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void aMissingBucketNamesItsCode() {
        assertThatThrownBy(() -> client.list("no-such-bucket", "", object -> {}))
                .isInstanceOfSatisfying(S3Exception.class,
                        e -> assertThat(e.code()).isEqualTo("NoSuchBucket"));
    }

    @Test
    void aWrongSecretIsRefused() {
        ClientConfig wrong = ClientConfig.of(store.endpoint(), "us-east-1",
                StaticCredentialsProvider
                        .create(AwsBasicCredentials.create(StoreProcess.ACCESS_KEY, "wrong")));
        try (RailheadClient stranger = RailheadClient.connect(wrong)) {
            assertThatThrownBy(() -> stranger.head(new ObjectName("bucket", "x")))
                    .isInstanceOfSatisfying(S3Exception.class,
                            e -> assertThat(e.status()).isEqualTo(403));
        }
    }

    @Test
    void anObjectThatChangesWhileItIsReadIsAnError() throws IOException {
        ObjectName name = new ObjectName("bucket", "changing");
        client.put(randomFile(20 * MIB), name, Progress.NONE);
        Path other = randomFile(20 * MIB);

        try (RailheadClient single = RailheadClient.connect(store.config().withStreams(1))) {
            assertThatThrownBy(() -> single.get(name, (offset, bytes) -> {
                if (offset == 0) {
                    client.put(other, name, Progress.NONE);
                }
            }, Progress.NONE)).isInstanceOfSatisfying(S3Exception.class,
                    e -> assertThat(e.status()).isEqualTo(412));
        }
    }

    @Test
    void aFailingDestinationFailsTheRead() throws IOException {
        ObjectName name = new ObjectName("bucket", "full-disk");
        client.put(randomFile(20 * MIB), name, Progress.NONE);

        assertThatThrownBy(() -> client.get(name, (long offset, ByteBuffer bytes) -> {
            if (offset > 0) {
                throw new IOException("No space left on device");
            }
        }, Progress.NONE)).hasMessage("No space left on device");
    }

    private Path randomFile(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(seed++).nextBytes(content);
        return Files.write(Files.createTempFile(folder, "sent", ""), content);
    }

    private List<Path> leftovers() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".partial")).toList();
        }
    }
}
