package io.railhead.gateway.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** Reads a YAML file as one {@link Section}; no key may appear twice. */
public final class YamlFile {
    private static final YAMLMapper MAPPER = new YAMLMapper(YAMLFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build());

    private YamlFile() {}

    public static Section read(Path file) throws ConfigException {
        try {
            return parse(file, Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            throw new ConfigException(file + ": no such file");
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e.getMessage());
        }
    }

    /** Parses content that has been read already; the path is for messages. */
    public static Section parse(Path file, byte[] content) throws ConfigException {
        String name = file.getFileName() == null ? file.toString() : file.getFileName().toString();
        try (JsonParser parser = new AliasRefusal((YAMLParser) MAPPER.createParser(content))) {
            JsonNode root = parser.nextToken() == null ? null : MAPPER.readTree(parser);
            if (parser.nextToken() != null) {
                throw new ConfigException(name + ": holds more than one document");
            }
            return Section.root(name, root);
        } catch (JsonProcessingException e) {
            throw e.getCause() instanceof MarkedYAMLException marked
                    ? malformed(name, marked)
                    : new ConfigException(name + where(e.getLocation()) + ": " + key(e)
                            + withoutExcerpt(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new ConfigException(name + ": cannot be read: " + e.getMessage());
        }
    }

    /**
     * Returns an error with the problem's own line: the parser names the line that it read last. A
     * construct that is open at the file's end is reported by its first line.
     */
    private static ConfigException malformed(String name, MarkedYAMLException e) {
        Mark problem = e.getProblemMark();
        Mark context = e.getContextMark();
        boolean atEnd = problem == null || problem.getIndex() >= problem.getBuffer().length;
        Mark at = atEnd && context != null ? context : problem;
        String begun = context == null || at == null || context.getLine() == at.getLine()
                ? ""
                : " (begun in line " + (context.getLine() + 1) + ")";
        return new ConfigException(name + (at == null ? "" : ":" + (at.getLine() + 1)) + ": "
                + (e.getContext() == null ? "" : e.getContext() + begun + ", ")
                + e.getProblem());
    }

    /** Removes the excerpt that the parser quotes in indented lines: the file may hold secrets. */
    private static String withoutExcerpt(String message) {
        return message.lines()
                .filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
                .collect(Collectors.joining(", "));
    }

    private static String where(@Nullable JsonLocation location) {
        return location == null ? "" : ":" + location.getLineNr();
    }

    private static String key(JsonProcessingException e) {
        return e.getProcessor() instanceof JsonParser parser ? key(parser) : "";
    }

    private static String key(JsonParser parser) {
        JsonPointer pointer = parser.getParsingContext().pathAsPointer();
        String path = pointer.toString();
        return path.isEmpty() ? "" : path.substring(1).replace('/', '.') + ": ";
    }

    /**
     * A parser that refuses aliases while the tree is built: the tree would take the anchor's name
     * as the value. A pass of its own would read the file twice.
     */
    private static final class AliasRefusal extends JsonParserDelegate {
        private final YAMLParser yaml;

        AliasRefusal(YAMLParser yaml) {
            super(yaml);
            this.yaml = yaml;
        }

        @Override
        public @Nullable JsonToken nextToken() throws IOException {
            JsonToken token = yaml.nextToken();
            if (yaml.isCurrentAlias()) {
                throw new JsonParseException(yaml, "is an alias (*); write the value itself",
                        yaml.currentTokenLocation());
            }
            return token;
        }
    }
}
