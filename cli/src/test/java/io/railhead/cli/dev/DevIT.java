package io.railhead.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.local.Children;
import io.railhead.cli.local.Loopback;
import io.railhead.client.ClientConfig;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

@Timeout(300)
class DevIT {
    @TempDir
    Path folder;

    private Process dev;
    private List<ProcessHandle> children = List.of();

    @BeforeEach
    void start() throws IOException {
        dev = new ProcessBuilder(Children.railhead(
                List.of("-Drailhead.home=" + Path.of("..").toAbsolutePath().normalize(),
                        "-Djava.io.tmpdir=" + folder),
                "dev", "--bucket", "mine", "--cache", "64MiB", "--store", "16MiB"))
                .redirectError(folder.resolve("err").toFile())
                .start();
    }

    @AfterEach
    void end() {
        dev.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void whatIsPastedWorksAndASignalEndsAll() throws Exception {
        String said = saidUntilReady();
        children = dev.children().toList();
        assertThat(children).as("store, gateway, watchdog").hasSize(3);
        AwsBasicCredentials pair = AwsBasicCredentials.create(found(said, "AWS_ACCESS_KEY_ID"),
                found(said, "AWS_SECRET_ACCESS_KEY"));
        URI endpoint = URI.create(found(said, "AWS_ENDPOINT_URL"));
        try (RailheadClient client = RailheadClient.connect(ClientConfig.of(endpoint,
                found(said, "AWS_REGION"), StaticCredentialsProvider.create(pair)))) {
            Path file = Files.writeString(folder.resolve("hello"), "hello");
            client.put(file, new ObjectName("mine", "hello"), Progress.NONE);
            List<String> keys = new ArrayList<>();
            client.list("mine", "", object -> keys.add(object.key()));
            assertThat(keys).containsExactly("hello");
        }
        assertThat(Loopback.ask(URI.create(after(said, "Status page"))).body()).contains("<html");
        assertThat(Loopback.ask(URI.create(after(said, "Metrics"))).body())
                .contains("railhead_backend_requests_total");

        dev.destroy();
        assertThat(dev.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(dev.exitValue()).isZero();
        assertThat(children).noneMatch(ProcessHandle::isAlive);
        try (var left = Files.list(folder)) {
            assertThat(left.map(Path::getFileName).map(Path::toString))
                    .noneMatch(name -> name.startsWith("railhead-dev"));
        }
    }

    @Test
    void nothingIsLeftOfACommandThatIsKilled() throws Exception {
        saidUntilReady();
        children = dev.children().toList();

        dev.destroyForcibly();

        for (ProcessHandle child : children) {
            child.onExit().get();
        }
        assertThat(folder).isDirectoryNotContaining("glob:**/railhead-dev*");
    }

    private String saidUntilReady() throws IOException {
        List<String> lines = new ArrayList<>();
        BufferedReader out = dev.inputReader();
        String line = out.readLine();
        while (line != null) {
            lines.add(line);
            if (line.contains("Ctrl-C ends it")) {
                return String.join("\n", lines);
            }
            line = out.readLine();
        }
        throw new AssertionError("not ready: " + lines + Files.readString(folder.resolve("err")));
    }

    private static String found(String said, String variable) {
        return first(said, "\\b" + variable + "=(\\S+)");
    }

    private static String after(String said, String title) {
        return first(said, title + " +(\\S+)");
    }

    private static String first(String said, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(said);
        assertThat(matcher.find()).as("%s in %s", pattern, said).isTrue();
        return matcher.group(1);
    }
}
