package io.railhead.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.net.URI;
import java.nio.file.Path;

/**
 * The configuration of a gateway under test: the tests' defaults, overridden key by key. A list is
 * replaced as a whole. A backend without endpoints gets the test's store.
 */
final class TestConfig {
    private static final YAMLMapper MAPPER = new YAMLMapper();
    private static final String DEFAULTS = """
            gateway:
              listen: 127.0.0.1:0
              health: 127.0.0.1:0
              credentials: credentials.yaml
              event_loops: 2
              drain: 5s
            admin:
              listen: 127.0.0.1:0
            rdma:
              loopback: {}
            cache:
              memory: 64MiB
            """;
    private static final String ONE_STORE = "backends: {store: {}}";

    private TestConfig() {}

    /** The text of railhead.yaml. */
    static String text(String overrides, URI store, Path socket) {
        try {
            ObjectNode all = read(DEFAULTS);
            override(all, read(overrides));
            if (!all.has("backends")) {
                override(all, read(ONE_STORE));
            }
            all.withObject("/rdma/loopback").put("socket", socket.toString());
            for (JsonNode backend : all.get("backends")) {
                if (!backend.has("endpoints")) {
                    ((ObjectNode) backend).putArray("endpoints").add(store.toString());
                }
            }
            return MAPPER.writeValueAsString(all);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ObjectNode read(String yaml) throws JsonProcessingException {
        return MAPPER.readTree(yaml) instanceof ObjectNode root ? root : MAPPER.createObjectNode();
    }

    private static void override(ObjectNode section, ObjectNode overrides) {
        overrides.properties().forEach(override -> {
            if (section.get(override.getKey()) instanceof ObjectNode inner
                    && override.getValue() instanceof ObjectNode changes) {
                override(inner, changes);
            } else {
                section.set(override.getKey(), override.getValue());
            }
        });
    }
}
