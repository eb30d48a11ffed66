package io.railhead.cli.completion;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    @TempDir
    Path folder;

    @Test
    void bashOffersCommandsOptionsAndValues() throws Exception {
        Path script = script("bash");
        assertThat(completed(script, "railhead", "do")).contains("doctor");
        assertThat(completed(script, "railhead", "get", "--no-f")).contains("--no-fallback");
        assertThat(completed(script, "railhead", "admin", "wa")).contains("warm");
        assertThat(completed(script, "railhead", "")).doesNotContain("reading-client");
    }

    @Test
    void fishIsToldOfEveryVisibleCommandAndItsOptions() throws Exception {
        String script = Files.readString(script("fish"));
        assertThat(script).contains("-f -a doctor -d ")
                .contains("-n '__fish_seen_subcommand_from get' -l no-fallback")
                .contains("-f -a warm")
                .doesNotContain("reading-client");
        assertThat(script.lines()).allMatch(line -> line.startsWith("complete -c railhead"));
    }

    private Path script(String shell) throws Exception {
        Path script = folder.resolve(shell);
        Process railhead = new ProcessBuilder(JAVA.toString(), "-cp",
                System.getProperty("java.class.path"), "io.railhead.cli.Main", "completion", shell)
                .redirectOutput(script.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(railhead.waitFor()).isZero();
        return script;
    }

    /** The words that bash would offer for the last of {@code words}. */
    private static String completed(Path script, String... words) throws IOException,
            InterruptedException {
        String line = "source " + script + "; COMP_WORDS=(" + quoted(words) + "); COMP_CWORD="
                + (words.length - 1) + "; COMP_LINE=\"${COMP_WORDS[*]}\"; _complete_railhead; "
                + "echo \"${COMPREPLY[@]}\"";
        Process bash = new ProcessBuilder("bash", "-c", line)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String reply = new String(bash.getInputStream().readAllBytes());
        assertThat(bash.waitFor()).isZero();
        return reply;
    }

    private static String quoted(String[] words) {
        return String.join(" ", List.of(words).stream().map(word -> "'" + word + "'").toList());
    }
}
