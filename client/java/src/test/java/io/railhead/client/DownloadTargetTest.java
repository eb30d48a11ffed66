package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Downloads to what is no plain file. */
@Timeout(60)
class DownloadTargetTest {
    private static final ObjectName NAME = new ObjectName("bucket", "key");

    @TempDir
    Path folder;

    private static final byte[] CONTENT = new byte[20 << 20];

    @TempDir
    static Path shared;

    private static StoreProcess store;
    private static RailheadClient client;

    @BeforeAll
    static void start() throws IOException {
        new Random(1).nextBytes(CONTENT);
        store = new StoreProcess(shared);
        client = RailheadClient.connect(store.config());
        client.createBucket("bucket");
        client.put(Files.write(shared.resolve("content"), CONTENT), NAME, Progress.NONE);
    }

    @AfterAll
    static void stop() {
        client.close();
        store.close();
    }

    private Path fifo() throws IOException, InterruptedException {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
        return fifo;
    }

    private static CompletableFuture<byte[]> readAll(Path fifo) {
        return CompletableFuture.supplyAsync(() -> {
            try (InputStream in = Files.newInputStream(fifo)) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    @Test
    void aFifoIsWrittenToInOrder() throws Exception {
        Path fifo = fifo();
        CompletableFuture<byte[]> read = readAll(fifo);

        client.get(NAME, fifo, Progress.NONE);

        assertThat(read.join()).isEqualTo(CONTENT);
        assertThat(Files.isRegularFile(fifo)).isFalse();
        assertOnly("fifo");
    }

    @Test
    void aFifoIsWrittenToWhereItIsResumedToo() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), fifo().getFileName());
        CompletableFuture<byte[]> read = readAll(link);

        client.resume(NAME, link, Progress.NONE);

        assertThat(read.join()).isEqualTo(CONTENT);
        assertOnly("fifo", "link");
    }

    @Test
    void aDeviceStaysOne() throws IOException {
        client.get(NAME, Path.of("/dev/null"), Progress.NONE);
        client.resume(NAME, Path.of("/dev/null"), Progress.NONE);

        assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
    }

    @Test
    void whatIsBehindASymbolicLinkIsReplaced() throws IOException {
        Path behind = Files.write(Files.createDirectory(folder.resolve("there")).resolve("file"),
                new byte[]{1});
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("there", "file"));

        client.get(NAME, link, Progress.NONE);

        assertThat(link).isSymbolicLink().hasBinaryContent(CONTENT);
        assertThat(behind).hasBinaryContent(CONTENT);
        assertOnly("link", "there");

        Files.write(behind, new byte[]{1});
        client.resume(NAME, link, Progress.NONE);

        assertThat(link).isSymbolicLink();
        assertThat(behind).hasBinaryContent(CONTENT);
    }

    @Test
    void aLinkToWhatIsNotThereYetMakesIt() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("file"));

        client.get(NAME, link, Progress.NONE);

        assertThat(link).isSymbolicLink();
        assertThat(folder.resolve("file")).isRegularFile().hasBinaryContent(CONTENT);
    }

    @Test
    void linksInACircleAreAnError() throws IOException {
        Path link = folder.resolve("link");
        Files.createSymbolicLink(link, link);

        assertThatThrownBy(() -> client.get(NAME, link, Progress.NONE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("link");
    }

    private void assertOnly(String... names) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(names);
        }
    }
}
