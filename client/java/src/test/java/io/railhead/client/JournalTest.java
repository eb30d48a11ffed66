package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A journal that two processes want. */
class JournalTest {
    private static final String TAKEN = "taken";
    private static final int NEVER_HAD_IT = 3;

    @TempDir
    Path folder;

    @Test
    void aCallThatIsRefusedTakesNobodysLock() throws Exception {
        Path path = folder.resolve(".file.parts");
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
        try (Journal journal = Journal.open(path, TAKEN)) {
            assertThat(journal.isEmpty()).isTrue();
            for (Path same : List.of(path, link.resolve(path.getFileName()))) {
                assertThatThrownBy(() -> Journal.open(same, TAKEN)).hasMessage(TAKEN);
            }
            assertThat(other(path, 1).waitFor()).isEqualTo(NEVER_HAD_IT);
        }
        assertThat(other(path, 1).waitFor()).isZero();
    }

    /** Each removes it, since it is empty, while the other opens it. */
    @Test
    void oneAtATimeHasWhatIsRemovedAgainAndAgain() throws Exception {
        Path path = folder.resolve(".file.parts");
        Process other = other(path, 3000);
        while (other.isAlive()) {
            haveIt(path);
        }
        assertThat(other.waitFor()).isIn(0, NEVER_HAD_IT);
    }

    private static boolean haveIt(Path path) throws IOException {
        try (Journal journal = Journal.open(path, TAKEN)) {
            Path mark = Files.createFile(path.resolveSibling("mark"));
            boolean empty = journal.isEmpty();
            Files.delete(mark);
            return empty;
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException e) {
            if (!TAKEN.equals(e.getMessage())) {
                throw e;
            }
            return false;
        }
    }

    private static Process other(Path path, int rounds) throws IOException, URISyntaxException {
        List<String> classes = new ArrayList<>();
        for (Class<?> known : List.of(Journal.class, JournalTest.class)) {
            classes.add(Path.of(known.getProtectionDomain().getCodeSource().getLocation().toURI())
                    .toString());
        }
        return new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                String.join(":", classes), Other.class.getName(), path.toString(),
                Integer.toString(rounds)).inheritIO().start();
    }

    /** Another process: ends with 0 if it ever had the journal. */
    static final class Other {
        public static void main(String[] args) throws IOException {
            boolean had = false;
            for (int i = Integer.parseInt(args[1]); i > 0; i--) {
                had |= haveIt(Path.of(args[0]));
            }
            System.exit(had ? 0 : NEVER_HAD_IT);
        }
    }
}
