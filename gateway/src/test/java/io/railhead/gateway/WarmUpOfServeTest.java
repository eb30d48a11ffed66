package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class WarmUpOfServeTest {
    private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

    @TempDir
    Path folder;

    private final Logger ours = (Logger) LoggerFactory.getLogger("io.railhead");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final List<Duration> asked = new ArrayList<>();
    private @Nullable Level before;

    @BeforeEach
    void listen() {
        before = ours.getLevel();
        lines.start();
        ours.addAppender(lines);
    }

    @AfterEach
    void leave() {
        ours.detachAppender(lines);
        ours.setLevel(before);
    }

    @Test
    void aWarmUpTakesTheConfiguredTimeAndIsTold() throws Exception {
        serve(most -> {
            asked.add(most);
            return 7;
        }).warmUp(config("warm_up: 250ms"));
        assertThat(asked).containsExactly(Duration.ofMillis(250));
        assertThat(lines.list).singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage())
                        .startsWith("warmed up by 7 requests in "));
    }

    @Test
    void itsGatewaysLinesAreNotInTheLog() throws Exception {
        serve(_ -> {
            LoggerFactory.getLogger("io.railhead.gateway.Gateway").info("of the warm-up");
            return 1;
        }).warmUp(config("warm_up: 1s"));
        assertThat(lines.list).noneMatch(line -> line.getMessage().contains("of the warm-up"));
        assertThat(ours.getLevel()).isEqualTo(Level.INFO);
    }

    @Test
    void noTimeMeansNoWarmUp() throws Exception {
        serve(_ -> {
            throw new AssertionError("not asked for");
        }).warmUp(config("warm_up: 0s"));
        assertThat(lines.list).isEmpty();
    }

    @Test
    void aWarmUpThatFailsIsAWarning() throws Exception {
        serve(_ -> {
            throw new IllegalStateException("no folder");
        }).warmUp(config("warm_up: 1s"));
        assertThat(ours.getLevel()).isEqualTo(Level.INFO);
        assertThat(lines.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARN);
            assertThat(line.getFormattedMessage()).contains("no folder");
        });
    }

    private static Serve serve(ToLongFunction<Duration> warmUp) {
        return new Serve(NOWHERE, NOWHERE, warmUp);
    }

    private GatewayConfig config(String key) throws IOException, ConfigException {
        Files.writeString(folder.resolve("credentials.yaml"), "principals: []");
        return ConfigLoader.load(Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, %s}
                backends: {store: {endpoints: ["http://127.0.0.1:1"]}}
                """.formatted(key)));
    }
}
