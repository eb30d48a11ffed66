package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uploads of what has no size. */
@Timeout(60)
class StreamPutTest {
    private static final int PART = 16 << 20;
    private static final ObjectName NAME = new ObjectName("bucket", "key");

    @TempDir
    Path folder;

    private FakeUploads store;
    private RailheadClient client;

    @BeforeEach
    void start() throws IOException {
        store = new FakeUploads();
        client = RailheadClient.connect(store.config());
    }

    @AfterEach
    void stop() {
        client.close();
        store.close();
    }

    private static byte[] random(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    private byte[] stored() {
        assertThat(store.uploads).isEmpty();
        return Objects.requireNonNull(store.objects.get("/bucket/key"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, PART - 1, PART, PART + 1, 5 * PART + 7})
    void aStreamIsStoredToItsEnd(int bytes) throws IOException {
        ObjectInfo info = client.put(new ByteArrayInputStream(random(bytes)), NAME, Progress.NONE);

        assertThat(info.bytes()).isEqualTo(bytes);
        assertThat(stored()).isEqualTo(random(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 6, 2 * PART + 7})
    void aFifoIsStoredToItsEnd(int bytes) throws Exception {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
        CompletableFuture<Void> written = CompletableFuture.runAsync(() -> {
            try (OutputStream out = Files.newOutputStream(fifo)) {
                out.write(random(bytes));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });

        client.put(fifo, NAME, Progress.NONE);

        written.join();
        assertThat(stored()).isEqualTo(random(bytes));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"})
    void aFileOfTheKernelIsStoredToItsEnd(String file) throws IOException {
        client.put(Path.of(file), NAME, Progress.NONE);

        assertThat(stored()).isNotEmpty().isEqualTo(Files.readAllBytes(Path.of(file)));
    }

    @Test
    void anEmptyFileIsAnEmptyObject() throws IOException {
        client.put(Files.createFile(folder.resolve("empty")), NAME, Progress.NONE);

        assertThat(stored()).isEmpty();
    }

    @Test
    void aStreamThatBreaksOffStoresNothing() {
        InputStream breaking = new SequenceInputStream(
                new ByteArrayInputStream(random(3 * PART + 7)), new InputStream() {
                    @Override
                    public int read() throws IOException {
                        throw new IOException("broken off");
                    }

                    @Override
                    public int read(byte[] into, int offset, int length) throws IOException {
                        return read();
                    }
                });

        assertThatThrownBy(() -> client.put(breaking, NAME, Progress.NONE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("broken off");
        assertThat(store.objects).isEmpty();
        assertThat(store.uploads).isEmpty();
    }

    @Test
    void aPartThatTheStoreRefusesEndsTheUpload() {
        store.refuses = "PUT";

        assertThatThrownBy(() -> client.put(new ByteArrayInputStream(random(9 * PART)), NAME,
                Progress.NONE)).isInstanceOf(S3Exception.class);
        assertThat(store.uploads).isEmpty();
    }

    @Test
    void whatHasNoSizeCannotBeResumed() {
        assertThatThrownBy(() -> client.resumePut(Path.of("/dev/null"), NAME, Progress.NONE))
                .hasMessageContaining("/dev/null is no regular file");
    }

    @Test
    void aDirectoryIsNamed() {
        assertThatThrownBy(() -> client.put(folder, NAME, Progress.NONE))
                .hasMessage(folder + " is a directory");
    }

    @Test
    void whoRefusedTheConnectionIsNamed() {
        String gone = store.config().endpoint().toString();
        store.close();

        assertThatThrownBy(() -> client.head(NAME)).hasMessageContaining(gone);
        assertThatThrownBy(() -> client.put(Path.of("/proc/version"), NAME, Progress.NONE))
                .hasMessageContaining(gone);
    }
}
