package io.railhead.protocol.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * A parser and all that must hold of it, whatever bytes it gets.
 *
 * @param harness whose static {@code fuzzerTestOneInput} is {@code body}, for Jazzer to find
 * @param body throws where the parser is wrong
 */
public record FuzzTarget(Class<?> harness, Consumer<byte[]> body) {

    String name() {
        return harness.getSimpleName();
    }

    /** Inputs that are committed, each a file of its own: {@code corpus/NAME} of the resources. */
    Path corpus() {
        URL resource = harness.getResource("/corpus/" + name());
        if (resource == null) {
            throw new IllegalStateException("no corpus for " + name());
        }
        try {
            return Path.of(resource.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    List<Path> inputs() {
        try (var files = Files.list(corpus())) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
