package io.railhead.gateway.events;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * S3 event JSON as Ceph RGW, MinIO and AWS S3 send it, and as SNS wraps it. Source: "Event message
 * structure" in the Amazon S3 user guide; "S3 Bucket Notifications Compatibility" of Ceph.
 */
sealed interface EventDocument {

    /** Objects that were written, or may have been. */
    record Changes(List<Change> changes, int ignored) implements EventDocument {
        public Changes {
            changes = List.copyOf(changes);
        }
    }

    /**
     * One object.
     *
     * @param keys the possible meanings of the key: senders differ in whether they encode it
     * @param versionId null if none is named
     */
    record Change(String bucket, Set<String> keys, @Nullable String versionId) {}

    /** A test event, by which a sender checks that the endpoint exists. */
    record Test() implements EventDocument {}

    /**
     * A subscription of SNS, which must be confirmed by a visit to this URL. That is left to a
     * person.
     */
    record Subscription(String url) implements EventDocument {}

    /** The document is no event. */
    final class MalformedException extends Exception {
        private static final long serialVersionUID = 1;

        MalformedException(String message) {
            super(message);
        }
    }

    ObjectMapper JSON = new ObjectMapper();

    static EventDocument parse(byte[] body) throws MalformedException {
        JsonNode root = read(body);
        return switch (root.path("Type").asText()) {
            case "SubscriptionConfirmation" ->
                new Subscription(text(root, "SubscribeURL", "SubscribeURL"));
            case "Notification" ->
                of(read(text(root, "Message", "Message").getBytes(StandardCharsets.UTF_8)));
            default -> of(root);
        };
    }

    private static JsonNode read(byte[] json) throws MalformedException {
        try {
            JsonNode root = JSON.readTree(json);
            if (root != null && root.isObject()) {
                return root;
            }
        } catch (JsonProcessingException e) {
            throw new MalformedException("The body is not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new MalformedException("The body is not JSON: " + e.getMessage());
        }
        throw new MalformedException("The body is not a JSON object.");
    }

    private static EventDocument of(JsonNode root) throws MalformedException {
        if (root.path("Event").asText().equals("s3:TestEvent")) {
            return new Test();
        }
        JsonNode records = root.path("Records");
        if (!records.isArray()) {
            throw new MalformedException("Records is missing or not a list.");
        }
        List<Change> changes = new ArrayList<>();
        int ignored = 0;
        for (JsonNode record : records) {
            String at = "Records[" + (changes.size() + ignored) + "]";
            if (record.path("eventName").asText().contains("ObjectAccessed")) {
                ignored++;
            } else {
                changes.add(change(record.path("s3"), at + ".s3"));
            }
        }
        return new Changes(changes, ignored);
    }

    private static Change change(JsonNode s3, String at) throws MalformedException {
        String bucket = text(s3.path("bucket"), "name", at + ".bucket.name");
        String key = text(s3.path("object"), "key", at + ".object.key");
        String versionId = s3.path("object").path("versionId").asText("");
        return new Change(bucket, meanings(key), versionId.isEmpty() ? null : versionId);
    }

    private static String text(JsonNode parent, String name, String at)
            throws MalformedException {
        JsonNode value = parent.path(name);
        if (!value.isTextual() || value.textValue().isEmpty()) {
            throw new MalformedException(at + " is missing or not a text.");
        }
        return value.textValue();
    }

    /**
     * Returns the possible meanings of a key: AWS and MinIO encode keys as forms do, Ceph does not.
     */
    private static Set<String> meanings(String key) {
        try {
            String decoded = URLDecoder.decode(key, StandardCharsets.UTF_8);
            return decoded.equals(key) ? Set.of(key) : Set.of(key, decoded);
        } catch (IllegalArgumentException e) {
            return Set.of(key);
        }
    }
}
