package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileWatchTest {
    @TempDir
    private Path folder;

    /** Half a file may well be a good one, with fewer principals. */
    @Test
    void whatIsStillBeingWrittenIsNotUsed() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "all");
        List<String> used = new ArrayList<>();
        List<Boolean> told = new ArrayList<>();
        FileWatch watch = new FileWatch("key", List.of(file),
                contents -> used.add(new String(contents.getFirst())));
        watch.load();
        watch.tell(refusal -> told.add(refusal.isEmpty()));
        for (String part : List.of("", "th", "the n")) {
            Files.writeString(file, part);
            watch.glance();
        }
        Files.writeString(file, "the next");
        watch.glance();
        assertThat(used).containsExactly("all");
        watch.glance();
        watch.glance();
        assertThat(used).containsExactly("all", "the next");
        Files.delete(file);
        watch.glance();
        Files.writeString(file, "the next");
        watch.glance();
        watch.glance();
        assertThat(told).as("it was away for a moment").containsExactly(true);
    }

    /** As the authorities are that a configuration names. */
    @Test
    void aFileThatIsNamedLaterIsWatchedToo() throws Exception {
        List<Path> files = new ArrayList<>(List.of(Files.writeString(folder.resolve("a"), "1")));
        List<Integer> used = new ArrayList<>();
        FileWatch watch = new FileWatch("key", files::stream, contents -> used.add(
                contents.stream().mapToInt(bytes -> Integer.parseInt(new String(bytes))).sum()));
        watch.load();
        files.add(Files.writeString(folder.resolve("b"), "2"));
        watch.glance();
        watch.glance();
        Files.writeString(folder.resolve("b"), "3");
        watch.glance();
        watch.glance();
        assertThat(used).containsExactly(1, 3, 4);
    }
}
