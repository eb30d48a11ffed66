package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads that break off, over HTTP against a real store, and what the next one makes of them. */
class ResumeTest {
    private static final int PART = 8 << 20;
    private static final int BYTES = 5 * PART + 1000;

    @TempDir
    static Path shared;

    private static StoreProcess store;
    private static RailheadClient client;

    @TempDir
    Path folder;

    private ObjectName name;
    private Path sent;
    private Path received;

    @BeforeAll
    static void startStore() throws IOException {
        store = new StoreProcess(shared);
        client = RailheadClient.connect(store.config().withStreams(1));
        client.createBucket("resumed");
    }

    @AfterAll
    static void stopStore() {
        client.close();
        store.close();
    }

    @BeforeEach
    void put() throws IOException {
        name = new ObjectName("resumed", "a key\nof two lines");
        sent = put(1, BYTES);
        received = folder.resolve("received");
    }

    private Path put(int seed, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        Path file = Files.write(folder.resolve("sent-" + seed), content);
        client.put(file, name, Progress.NONE);
        return file;
    }

    /** Counts what comes, and breaks off as a killed process would: between two parts. */
    private static final class Counted implements Progress {
        private final AtomicLong calls = new AtomicLong();
        private final AtomicLong bytes = new AtomicLong();
        private final long most;

        Counted(long most) {
            this.most = most;
        }

        @Override
        public void expect(long totalBytes) {}

        @Override
        public void advance(long more) {
            bytes.addAndGet(more);
            if (calls.incrementAndGet() == most) {
                throw new IllegalStateException("broken off by this test");
            }
        }
    }

    private void breakOffAfter(int parts) {
        assertThatThrownBy(() -> client.resume(name, received, new Counted(parts)))
                .hasStackTraceContaining("broken off by this test");
        assertThat(received).doesNotExist();
    }

    /** The parts that had to be read, after the one lump of those that were there. */
    private long resumed() throws IOException {
        Counted counted = new Counted(Long.MAX_VALUE);
        client.resume(name, received, counted);
        assertThat(counted.bytes.get()).isEqualTo(Files.size(received));
        return counted.calls.get() - 1;
    }

    private void assertReceived(Path expected) throws IOException {
        assertThat(Files.mismatch(received, expected)).isEqualTo(-1);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .allMatch(file -> file.startsWith("sent-") || file.equals("received"));
        }
    }

    @Test
    void onlyWhatIsMissingIsReadAgain() throws IOException {
        breakOffAfter(3);
        assertThat(resumed()).isEqualTo(3);
        assertReceived(sent);
    }

    @Test
    void itMayBreakOffAgainAndAgain() throws IOException {
        breakOffAfter(2);
        breakOffAfter(2);
        breakOffAfter(3);
        assertThat(resumed()).isEqualTo(1);
        assertReceived(sent);
    }

    @Test
    void anotherVersionIsReadFromItsBeginning() throws IOException {
        breakOffAfter(3);
        Path shorter = put(2, PART + 5);
        client.resume(name, received, Progress.NONE);
        assertReceived(shorter);
    }

    @Test
    void whatIsWholeButOldIsNoAnswer() throws IOException {
        breakOffAfter(6);
        Path newer = put(2, BYTES);
        client.resume(name, received, Progress.NONE);
        assertReceived(newer);
    }

    @Test
    void anObjectThatHasBecomeEmptyIsEmpty() throws IOException {
        breakOffAfter(3);
        Path empty = put(3, 0);
        client.resume(name, received, Progress.NONE);
        assertReceived(empty);
    }

    @Test
    void aJournalThatIsNoneIsNotBelieved() throws IOException {
        for (int line = 0; line < 5; line++) {
            breakOffAfter(3);
            Path journal = folder.resolve(".received.parts");
            List<String> lines = Files.readAllLines(journal);
            assertThat(lines).hasSize(8);
            lines.set(line, "another");
            Files.write(journal, lines);
            client.resume(name, received, Progress.NONE);
            assertReceived(sent);
            Files.delete(received);
        }
    }

    @Test
    void aLineThatWasNotFinishedIsNone() throws IOException {
        breakOffAfter(3);
        Path journal = folder.resolve(".received.parts");
        Files.writeString(journal, Files.readString(journal).stripTrailing());
        breakOffAfter(2);
        assertThat(resumed()).isEqualTo(3);
        assertReceived(sent);
    }

    /** As after a crash of the machine. */
    @Test
    void aPartThatIsNotAsItWasIsReadAgain() throws IOException {
        breakOffAfter(4);
        Path partial = folder.resolve(".received.partial");
        byte[] content = Files.readAllBytes(partial);
        content[PART + 77] ^= 1;
        Files.write(partial, Arrays.copyOf(content, 3 * PART - 1));
        assertThat(resumed()).isEqualTo(5);
        assertReceived(sent);
    }

    @Test
    void twoAtOnceAreOne() throws IOException {
        try (PartialFile first = PartialFile.open(received.toAbsolutePath())) {
            assertThat(first.data()).exists();
            assertThatThrownBy(() -> client.resume(name, received, Progress.NONE))
                    .hasMessageContaining("by somebody else");
        }
        client.resume(name, received, Progress.NONE);
        assertReceived(sent);
    }

    @Test
    void whereNothingHasComeNothingStays() throws IOException {
        assertThatThrownBy(() -> client.resume(new ObjectName("resumed", "missing"), received,
                Progress.NONE)).isInstanceOf(S3Exception.class);
        assertThat(received).doesNotExist();
        client.get(name, received, Progress.NONE);
        assertReceived(sent);
    }

    @Test
    void aJournalThatNamesWhatCannotBeIsNotBelieved() throws IOException {
        for (String line : List.of("-8388608 1", "9223372036854775807 1", "16777216 x", "\u0000")) {
            breakOffAfter(3);
            Path journal = folder.resolve(".received.parts");
            Files.writeString(journal, Files.readString(journal) + line + "\n");
            client.resume(name, received, Progress.NONE);
            assertReceived(sent);
            Files.delete(received);
        }
    }

    /** Without being asked for, nothing stays. */
    @Test
    void aGetLeavesNothing() throws IOException {
        assertThatThrownBy(() -> client.get(name, received, new Counted(3)))
                .hasStackTraceContaining("broken off by this test");
        client.get(name, received, Progress.NONE);
        assertReceived(sent);
    }
}
