package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.client.FakeUploads.Proof;
import io.railhead.client.UploadJournal.Begun;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uploads that break off, over HTTP, and what the next one makes of them. */
class ResumePutTest {
    /** Far smaller than a user's, since each test takes MD5 sums of several. */
    private static final int PART = 256 << 10;
    private static final int BYTES = 4 * PART + 1000;
    private static final ObjectName NAME = new ObjectName("resumed", "a key\nof two lines");
    private static final byte[] CONTENT = content();

    @TempDir
    Path folder;

    private FakeUploads store;
    private RailheadClient client;
    private Path file;

    private static byte[] content() {
        byte[] content = new byte[BYTES];
        new Random(1).nextBytes(content);
        return content;
    }

    @BeforeEach
    void start() throws IOException {
        store = new FakeUploads();
        client = new RailheadClient(store.config().withStreams(1), LoopbackConnector.INSTANCE,
                new UploadSizes(PART, PART));
        file = Files.write(folder.resolve("a file"), CONTENT);
    }

    @AfterEach
    void stop() {
        client.close();
        store.close();
    }

    private void breakOffAfter(int parts) {
        store.takes = parts;
        assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                .isInstanceOf(UnfinishedUploadException.class);
        store.takes = Integer.MAX_VALUE;
        store.partBytes();
    }

    /** The bytes of parts that had to be sent. */
    private long resumed() throws IOException {
        client.resumePut(file, NAME, Progress.NONE);
        return store.partBytes();
    }

    private void assertStored() throws IOException {
        assertThat(store.objects).containsOnlyKeys("/resumed/a key\nof two lines");
        assertThat(Arrays.equals(store.objects.values().iterator().next(),
                Files.readAllBytes(file))).isTrue();
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() throws IOException {
        assertThat(store.uploads).isEmpty();
        assertThat(beside()).isEmpty();
    }

    private List<Path> beside() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(other -> !other.equals(file)).toList();
        }
    }

    private Path journal() throws IOException {
        assertThat(beside()).hasSize(1);
        return beside().getFirst();
    }

    /** Changes one byte, not when the file was modified. */
    private void flip(long position) throws IOException {
        FileTime modified = Files.getLastModifiedTime(file);
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(position);
            bytes.write(CONTENT[(int) position] ^ 1);
        }
        Files.setLastModifiedTime(file, modified);
    }

    private void touch() throws IOException {
        Files.setLastModifiedTime(file,
                FileTime.fromMillis(Files.getLastModifiedTime(file).toMillis() + 1000));
    }

    @Test
    void onlyWhatIsMissingIsSentAgain() throws IOException {
        breakOffAfter(3);
        assertThat(resumed()).isEqualTo(PART + 1000);
        assertStored();
    }

    @Test
    void itMayBreakOffAgainAndAgain() throws IOException {
        breakOffAfter(1);
        breakOffAfter(1);
        breakOffAfter(2);
        assertThat(resumed()).isEqualTo(1000);
        assertStored();
    }

    @Test
    void progressCountsWhatIsThere() throws IOException {
        breakOffAfter(3);
        long[] told = new long[2];
        client.resumePut(file, NAME, new Progress() {
            @Override
            public void expect(long totalBytes) {
                told[0] = totalBytes;
            }

            @Override
            public void advance(long bytes) {
                told[1] += bytes;
            }
        });
        assertThat(told).containsExactly(BYTES, BYTES);
    }

    @Test
    void anEndWithoutAnswerIsUnknownAndNothingIsAborted() {
        store.hangsUp = true;
        for (Storing storing : List.<Storing>of(client::put, client::resumePut)) {
            assertThatThrownBy(() -> storing.store(file, NAME, Progress.NONE))
                    .hasStackTraceContaining("whether it was stored is unknown");
        }
        assertThat(store.objects).hasSize(1);
        assertThat(store.aborts).isZero();
    }

    private interface Storing {
        ObjectInfo store(Path file, ObjectName name, Progress progress) throws IOException;
    }

    @Test
    void aFileThatWasChangedIsStoredAnewAndItsUploadAborted() throws IOException {
        breakOffAfter(3);
        touch();
        assertThat(resumed()).isEqualTo(BYTES);
        assertStored();
    }

    @Test
    void aFileThatHasBecomeSmallIsStoredWhole() throws IOException {
        breakOffAfter(3);
        Files.write(file, Arrays.copyOf(CONTENT, PART));
        assertThat(resumed()).isZero();
        assertStored();
    }

    @Test
    void anUploadThatWasAbortedIsBegunAnew() throws IOException {
        breakOffAfter(3);
        store.uploads.clear();
        assertThat(resumed()).isEqualTo(BYTES);
        assertStored();
    }

    @Test
    void partsThatAreNotTheFilesAreSentAgain() throws IOException {
        breakOffAfter(4);
        var parts = store.uploads.values().iterator().next();
        byte[] spoilt = Arrays.copyOfRange(CONTENT, PART, 2 * PART);
        spoilt[77] ^= 1;
        parts.put(2, spoilt);
        parts.put(3, Arrays.copyOfRange(CONTENT, 2 * PART, 3 * PART - 1));
        parts.remove(1);
        assertThat(resumed()).isEqualTo(3 * PART + 1000);
        assertStored();
    }

    /** Bytes may change where the time does not. */
    @Test
    void bytesAreComparedAndNotOnlyTimes() throws IOException {
        breakOffAfter(4);
        flip(PART + 5);
        assertThat(resumed()).isEqualTo(PART + 1000);
        assertStored();
    }

    @Test
    void aChecksumIsProofWhereTheETagIsNone() throws IOException {
        store.proof = Proof.CRC32C;
        breakOffAfter(4);
        flip(PART + 5);
        assertThat(resumed()).isEqualTo(PART + 1000);
        assertStored();
    }

    @Test
    void whatCannotBeProvenIsSentAgain() throws IOException {
        store.proof = Proof.NONE;
        breakOffAfter(4);
        assertThat(resumed()).isEqualTo(BYTES);
        assertStored();
    }

    @Test
    void aJournalThatIsNoneIsNotBelieved() throws IOException {
        URI endpoint = store.config().endpoint();
        Begun begun = new Begun(new MultipartUpload(NAME, "an+id\n", PART),
                FileVersion.of(file));
        try (UploadJournal journal = UploadJournal.open(file, endpoint, NAME)) {
            journal.begin(begun);
            assertThat(journal.begun()).isEqualTo(begun);
        }
        List<String> lines = Files.readAllLines(journal());
        assertThat(lines).hasSize(7);
        for (int line = 0; line < lines.size(); line++) {
            for (String other : List.of("another", "", "0", "1", "%", "-9223372036854775808")) {
                List<String> changed = new ArrayList<>(lines);
                changed.set(line, other);
                Files.write(journal(), changed);
                try (UploadJournal journal = UploadJournal.open(file, endpoint, NAME)) {
                    assertThat(journal.begun()).isNotEqualTo(begun);
                }
            }
        }
    }

    @Test
    void aJournalThatBrokeOffIsNone() throws IOException {
        breakOffAfter(3);
        Path journal = journal();
        Files.writeString(journal, Files.readString(journal).stripTrailing());
        assertThat(resumed()).isEqualTo(BYTES);
        store.uploads.clear();
        assertStored();
    }

    @Test
    void twoAtOnceAreOne() throws IOException {
        try (UploadJournal first = UploadJournal.open(file, store.config().endpoint(), NAME)) {
            assertThat(first.isEmpty()).isTrue();
            assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                    .isNotInstanceOf(UnfinishedUploadException.class)
                    .hasMessageContaining("by somebody else");
        }
        assertThat(resumed()).isEqualTo(BYTES);
        assertStored();
    }

    @Test
    void eachDestinationHasItsOwn() throws IOException {
        breakOffAfter(3);
        client.resumePut(file, new ObjectName("resumed", "other"), Progress.NONE);
        assertThat(store.partBytes()).isEqualTo(BYTES);
        store.objects.clear();
        assertThat(resumed()).isEqualTo(PART + 1000);
        assertStored();
    }

    @Test
    void whereNothingWasBegunNothingStays() throws IOException {
        store.refuses = "POST";
        assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                .isInstanceOf(S3Exception.class);
        assertNothingIsLeft();
    }

    @Test
    void whatCannotBeListedIsKept() throws IOException {
        breakOffAfter(3);
        store.refuses = "GET";
        assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                .isInstanceOf(UnfinishedUploadException.class)
                .hasCauseInstanceOf(S3Exception.class)
                .hasMessage("AccessDenied");
        store.refuses = "";
        store.advances = false;
        assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                .hasMessage("the store's listing does not advance");
        store.advances = true;
        assertThat(resumed()).isEqualTo(PART + 1000);
        assertStored();
    }

    @Test
    void anUploadThatCannotBeAbortedIsNotForgotten() throws IOException {
        breakOffAfter(3);
        touch();
        store.refuses = "DELETE";
        assertThatThrownBy(() -> client.resumePut(file, NAME, Progress.NONE))
                .isInstanceOf(UnfinishedUploadException.class);
        store.refuses = "";
        assertThat(resumed()).isEqualTo(BYTES);
        assertStored();
    }

    @Test
    void onlyTheEndMayBeMissing() throws IOException {
        store.completes = false;
        breakOffAfter(5);
        store.completes = true;
        assertThat(resumed()).isZero();
        assertStored();
    }

    @Test
    void aFileThatChangesWhileItIsStoredIsNoObject() throws IOException {
        Progress touching = new Progress() {
            @Override
            public void expect(long totalBytes) {}

            @Override
            public void advance(long bytes) {
                try {
                    touch();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        assertThatThrownBy(() -> client.resumePut(file, NAME, touching))
                .isNotInstanceOf(UnfinishedUploadException.class)
                .hasMessageContaining("changed while it was stored");
        assertThat(store.objects).isEmpty();
        assertNothingIsLeft();
    }

    /** Without being asked for, nothing stays. */
    @Test
    void aPutLeavesNothing() throws IOException {
        store.takes = 3;
        assertThatThrownBy(() -> client.put(file, NAME, Progress.NONE))
                .isNotInstanceOf(UnfinishedUploadException.class);
        assertThat(store.objects).isEmpty();
        assertNothingIsLeft();
        store.takes = Integer.MAX_VALUE;
        client.put(file, NAME, Progress.NONE);
        assertStored();
    }
}
