package io.railhead.gateway.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Path;

/** Reads a JSON file as one {@link Section}; no key may appear twice. */
public final class JsonFile {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private JsonFile() {}

    /** Parses content that has been read already; the path is for messages. */
    public static Section parse(Path file, byte[] content) throws ConfigException {
        String name = file.getFileName() == null ? file.toString() : file.getFileName().toString();
        try {
            return Section.root(name, MAPPER.readTree(content));
        } catch (JsonProcessingException e) {
            throw new ConfigException(name
                    + (e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr()) + ": "
                    + e.getOriginalMessage());
        } catch (IOException e) {
            throw new ConfigException(name + ": cannot be read: " + e.getMessage());
        }
    }
}
