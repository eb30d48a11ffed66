package io.railhead.helm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.marcnuri.helm.Helm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The chart of this folder, worked on by Helm itself, with one file of values. */
record Chart(Path values) {
    static final Path FOLDER = Path.of("railhead").toAbsolutePath();
    private static final String HOOK = "helm.sh/hook";
    private static final String NO_HOOK = "no-helm.sh/hook";
    private static final String LOOKUP = "lookup ";
    /** Finds nothing, as {@code lookup} does under {@code helm template}. */
    private static final String NO_LOOKUP = "dict ";
    /**
     * Helm's library leaves hooks out of what it renders, so in this copy there are none. Nor does
     * it render what asks a cluster.
     */
    private static final Path WITHOUT_HOOKS = copyWithoutHooks(
            Path.of("target/chart").toAbsolutePath());
    static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    /** The values files that come with the chart: what people really install. */
    static List<Path> examples() {
        try (Stream<Path> files = Files.list(FOLDER.resolve("ci"))) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Chart of(String example) {
        return new Chart(FOLDER.resolve("ci").resolve(example + "-values.yaml"));
    }

    static String file(String name) {
        try {
            return Files.readString(FOLDER.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All documents, as {@code helm template} prints them; throws with Helm's own message. */
    String render() {
        return renderFor("1.35.0");
    }

    String renderFor(String kubernetes) {
        return new Helm(WITHOUT_HOOKS).template()
                .withName("rack1")
                .withNamespace("storage")
                .withKubeVersion(kubernetes)
                .withValuesFile(values)
                .call()
                .replace(NO_HOOK, HOOK);
    }

    private static Path copyWithoutHooks(Path copy) {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = copy.resolve(FOLDER.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.writeString(target, Files.readString(file)
                        .replace(HOOK, NO_HOOK)
                        .replace(LOOKUP, NO_LOOKUP));
            }
            return copy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<JsonNode> documents() {
        try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(render())) {
            return documents.readAll().stream().filter(JsonNode::isObject).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    JsonNode document(String kind) {
        return documents().stream()
                .filter(each -> each.path("kind").asText().equals(kind))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + kind));
    }

    /** Of the workload, whichever kind that is. */
    JsonNode pod() {
        return documents().stream()
                .filter(each -> each.path("apiVersion").asText().equals("apps/v1"))
                .findFirst()
                .orElseThrow()
                .at("/spec/template/spec");
    }
}
