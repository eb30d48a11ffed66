package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
    /** Port 9 of this host: nothing listens there. */
    private static final String NOBODY = "--endpoint=http://127.0.0.1:9";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private int run(String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        return line.execute(arguments);
    }

    @Test
    void helpNamesWhatIsServedAndNothingElse() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains("serve", "dev", "demo", "get", "put", "ls", "doctor", "admin",
                        "policy", "completion",
                        "bench")
                .doesNotContain("reading-client");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "dev", "demo", "get", "put", "ls", "doctor", "admin", "policy",
            "completion", "bench"})
    void everyCommandHasHelpAndVersion(String command) {
        assertThat(run(command, "--help")).isZero();
        assertThat(run(command, "--version")).isZero();
        assertThat(out.toString()).contains("Usage: railhead " + command, "railhead (", "commit ",
                Runtime.version().toString());
    }

    @Test
    void theManualPageNamesEachCommand() throws IOException {
        String page = Files.readString(Path.of("../deploy/dist/railhead.1"));
        assertThat(Main.commandLine().getSubcommands()).allSatisfy((name, command) -> {
            if (!command.getCommandSpec().usageMessage().hidden()) {
                assertThat(page).containsPattern("(?m)^\\.BR? .*\\b" + name + "\\b");
            }
        });
    }

    @Test
    void noCommandIsMisuse() {
        assertThat(run()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bucket/key", "s3://bucket", "http://bucket/key"})
    void aBadNameIsMisuse(String uri) {
        assertThat(run("get", NOBODY, uri)).isEqualTo(2);
        assertThat(err.toString()).contains("not s3://bucket/key");
    }

    @Test
    void anUnknownTransportIsMisuse() {
        assertThat(run("get", NOBODY, "--via", "pigeon", "s3://b/k")).isEqualTo(2);
        assertThat(run("get", NOBODY, "--resume", "-o", "-", "s3://b/k")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gte,get", "ptu,put", "serv,serve", "doctr,doctor"})
    void anUnknownCommandNamesTheNearest(String words) {
        String[] pair = words.split(",", -1);
        assertThat(run(pair[0])).isEqualTo(2);
        assertThat(err.toString()).contains("unknown command '" + pair[0] + "'",
                "did you mean '" + pair[1] + "'?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nosuch", "x", "reading"})
    void anUnknownCommandThatIsNearNothingNamesNothing(String word) {
        assertThat(run(word)).isEqualTo(2);
        assertThat(err.toString()).contains("unknown command '" + word + "'")
                .doesNotContain("did you mean");
    }

    @Test
    void anOptionWithoutItsValueIsNamedOnce() {
        assertThat(run("policy", "test", "--policy", "p", "--role", "r", "--claim", "sub", "GET",
                "s3://b")).isEqualTo(2);
        assertThat(err.toString()).contains("option '--claim'").doesNotContain("option option");
    }

    @Test
    void anUnknownOptionNamesTheNearest() {
        assertThat(run("get", "--endpiont=http://x", "s3://b/k")).isEqualTo(2);
        assertThat(err.toString()).contains("'--endpiont'; did you mean '--endpoint'?");
        assertThat(run("admin", "evitc")).isEqualTo(2);
        assertThat(err.toString()).contains("did you mean 'evict'?");
    }

    @Test
    void theStandardInputHasNoNameAndCannotBeReadAgain() {
        assertThat(run("put", NOBODY, "-", "s3://b/dir/")).isEqualTo(2);
        assertThat(run("put", NOBODY, "/dev/stdin", "s3://b")).isEqualTo(2);
        assertThat(err.toString()).contains("'-' gives the object no name", "'/dev/stdin'");
        assertThat(run("put", NOBODY, "--resume", "-", "s3://b/k")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3://b", "s3://b/", "s3://b/dir/", "s3://b/a b//"})
    void aFileKeepsItsNameInAFolder(String uri) {
        assertThat(Uris.destination(Main.commandLine().getCommandSpec(), uri,
                Path.of("some/file.txt")).toString())
                .isEqualTo((uri.endsWith("/") ? uri : uri + "/") + "file.txt");
        assertThat(Uris.destination(Main.commandLine().getCommandSpec(), "s3://b/dir/k",
                Path.of("some/file.txt"))).hasToString("s3://b/dir/k");
    }

    @Test
    void aFolderThatIsNotThereIsNamed() {
        assertThat(run("get", NOBODY, "-o", folder.resolve("none") + "/", "s3://b/k"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("no such directory: " + folder.resolve("none") + "/");
    }

    @Test
    void aMissingFileIsOneLine() {
        assertThat(run("put", NOBODY, folder.resolve("none").toString(), "s3://b/k")).isEqualTo(1);
        assertThat(err.toString().strip())
                .isEqualTo("railhead: no such file: " + folder.resolve("none"));
    }

    @Test
    void aBadSizeForTheDemoIsMisuse() {
        assertThat(run("demo", "--bytes", "lots")).isEqualTo(2);
        assertThat(run("demo", "--bytes", "0")).isEqualTo(2);
        assertThat(err.toString()).contains("--bytes");
    }

    @Test
    void aFailureOfSeveralLinesIsFoldedIntoOne() {
        assertThat(OneLine.of(new IllegalStateException("a\n  b"))).isEqualTo("a b");
        assertThat(OneLine.of(new IllegalStateException())).isEqualTo("IllegalStateException");
    }

    @Test
    void progressIsSilentUnlessSomeoneWatches() {
        AtomicLong now = new AtomicLong();
        try (ProgressLine quiet = new ProgressLine(new PrintWriter(out, true), false, now::get)) {
            quiet.expect(10);
            now.set(5_000_000_000L);
            quiet.advance(10);
        }
        assertThat(out.toString()).isEmpty();
    }
}
