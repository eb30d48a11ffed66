package io.railhead.gateway.admin;

import io.railhead.cache.Selection;
import io.railhead.gateway.request.Address;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The JSON object with a call's arguments; "" counts as an empty one. {@link #close} refuses fields
 * that were not read, so that a misspelt field does not count as absent.
 */
final class CallBody {
    private final JsonObject fields;
    private final Set<String> read = new HashSet<>();

    private CallBody(JsonObject fields) {
        this.fields = fields;
    }

    static CallBody parse(byte[] json) {
        String text = new String(json, StandardCharsets.UTF_8);
        try {
            return new CallBody(text.isBlank() ? new JsonObject() : new JsonObject(text));
        } catch (DecodeException | ClassCastException e) {
            throw refusal("The body is not a JSON object.");
        }
    }

    static S3Refusal refusal(String detail) {
        return new S3Refusal(S3Error.INVALID_REQUEST, detail);
    }

    /** Returns the arguments that the call has read, as texts. A list is its number of elements. */
    Map<String, String> read() {
        Map<String, String> arguments = new TreeMap<>();
        read.forEach(name -> {
            Object value = fields.getValue(name);
            if (value != null) {
                arguments.put(name, value instanceof JsonArray list
                        ? list.size() + " elements"
                        : String.valueOf(value));
            }
        });
        return arguments;
    }

    @Nullable
    String text(String name) {
        return switch (take(name)) {
            case null -> null;
            case String text -> text;
            default -> throw refusal(name + " must be a text.");
        };
    }

    boolean flag(String name) {
        return switch (take(name)) {
            case null -> false;
            case Boolean flag -> flag;
            default -> throw refusal(name + " must be true or false.");
        };
    }

    long number(String name, long least, long most, long otherwise) {
        Object value = take(name);
        if (value == null) {
            return otherwise;
        }
        if (value instanceof Integer || value instanceof Long) {
            long number = ((Number) value).longValue();
            if (number >= least && number <= most) {
                return number;
            }
        }
        throw refusal(name + " must be a whole number from " + least + " to " + most + ".");
    }

    /** Returns null if the field is absent. */
    @Nullable
    List<String> texts(String name) {
        Object value = take(name);
        if (value == null) {
            return null;
        }
        if (!(value instanceof JsonArray array)) {
            throw refusal(name + " must be a list of texts.");
        }
        List<String> texts = new ArrayList<>();
        for (Object each : array) {
            if (!(each instanceof String text) || text.isEmpty()) {
                throw refusal(name + " must be a list of texts.");
            }
            texts.add(text);
        }
        return texts;
    }

    String bucket() {
        String bucket = text("bucket");
        if (bucket == null || !Address.isBucketName(bucket)) {
            throw refusal("bucket must name one.");
        }
        return bucket;
    }

    /**
     * Returns the selection by {@code bucket} with {@code key}, or with {@code prefix}, "" for the
     * whole bucket.
     */
    Selection selection() {
        String bucket = bucket();
        String key = text("key");
        String prefix = text("prefix");
        if ((key == null) == (prefix == null) || (key != null && key.isEmpty())) {
            throw refusal("Name either a key or a prefix.");
        }
        return key != null
                ? new Selection(bucket, key, Selection.Kind.KEY)
                : new Selection(bucket, String.valueOf(prefix), Selection.Kind.PREFIX);
    }

    private @Nullable Object take(String name) {
        read.add(name);
        return fields.getValue(name);
    }

    /** Throws if a field was not read. */
    void close() {
        for (String name : fields.fieldNames()) {
            if (!read.contains(name)) {
                throw refusal("'" + name + "' means nothing here.");
            }
        }
    }
}
