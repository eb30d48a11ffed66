package io.railhead.gateway.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A mapping in a YAML file, read key by key. Each refusal is one line: file, key, fault, cure.
 * {@link #close} refuses keys that were not read. Single-threaded.
 */
public final class Section {
    /** Stands for no listener: paths are not composed for it. A file may hold many thousands. */
    private static final Listener NOBODY = (path, kind, otherwise) -> {};

    private final String file;
    private final String path;
    private final @Nullable JsonNode node;
    private final Set<String> asked = new LinkedHashSet<>();
    private final Listener listener;

    /** Receives every key that the code reads, so that the reference is always complete. */
    @FunctionalInterface
    interface Listener {

        /**
         * @param path with the names in the file
         * @param kind the kind of value, in words
         * @param otherwise the default; "" for none
         */
        void asked(String path, String kind, String otherwise);

        /** Receives the value in force: the file's, or else the default. */
        default void said(String path, String value) {
            // Listeners for keys may ignore values.
        }

        /** Receives a warning about a key in the file that has no effect any more. */
        default void retired(String warning) {
            // Only a gateway's start prints warnings.
        }
    }

    private Section(String file, String path, @Nullable JsonNode node, Listener listener)
            throws ConfigException {
        this.file = file;
        this.path = path;
        this.listener = listener;
        this.node = isNothing(node) ? null : node;
        if (this.node != null && !this.node.isObject()) {
            throw new ConfigException(file + (path.isEmpty() ? "" : ": " + path)
                    + ": must be a mapping of keys to values");
        }
    }

    static Section root(String file, @Nullable JsonNode node) throws ConfigException {
        return new Section(file, "", node, NOBODY);
    }

    /** Returns the same section with another listener. */
    Section heardBy(Listener other) throws ConfigException {
        return new Section(file, path, node, other);
    }

    /** Returns a section; an absent one is empty. */
    public Section section(String key) throws ConfigException {
        return new Section(file, at(key), take(key), listener);
    }

    /** Returns a section with all defaults, which no file contains. Its keys are not reported. */
    Section implied(String key) throws ConfigException {
        Listener values = new Listener() {
            @Override
            public void asked(String asked, String kind, String otherwise) {
                // The keys are those of sections that a file may contain.
            }

            @Override
            public void said(String said, String value) {
                listener.said(said, value);
            }

            @Override
            public void retired(String warning) {
                listener.retired(warning);
            }
        };
        return new Section(file, at(key), null, values);
    }

    /** Returns the mapping below a key, each value as a section, in file order. */
    public Map<String, Section> sections(String key) throws ConfigException {
        JsonNode map = take(key);
        Map<String, Section> found = new LinkedHashMap<>();
        Section names = new Section(file, at(key), map, listener);
        if (names.node != null) {
            for (Iterator<String> it = names.node.fieldNames(); it.hasNext();) {
                String name = it.next();
                found.put(name, names.section(name));
            }
        }
        return found;
    }

    /** Returns the list of mappings below a key; an absent one is empty. */
    public List<Section> list(String key) throws ConfigException {
        List<Section> found = new ArrayList<>();
        String list = at(key);
        for (JsonNode element : elements(key)) {
            found.add(new Section(file, list + "[" + found.size() + "]", element, listener));
        }
        return found;
    }

    /** Returns the list of texts below a key; an absent one is empty. */
    public List<String> texts(String key) throws ConfigException {
        tellAsked(key, "list", "[]");
        List<String> found = new ArrayList<>();
        for (JsonNode element : elements(key)) {
            if (!element.isTextual()) {
                throw problem(key, "must be a list of texts; put each in quotes");
            }
            found.add(element.textValue());
        }
        tellSaid(key, String.join(", ", found));
        return found;
    }

    /** Returns the text or the list of texts below a key, as policies have them; never empty. */
    public List<String> textOrTexts(String key) throws ConfigException {
        JsonNode value = take(key);
        List<String> found = new ArrayList<>();
        if (value != null && !value.isArray()) {
            found.add(text(key, value));
        } else {
            for (JsonNode element : elements(key)) {
                found.add(text(key, element));
            }
        }
        if (found.isEmpty()) {
            throw missing(key, "is missing");
        }
        return found;
    }

    private String text(String key, JsonNode value) throws ConfigException {
        if (!value.isTextual() && !value.isBoolean()) {
            throw problem(key, "must be a text or a list of texts");
        }
        return value.asText();
    }

    /** Returns every key of the section, in file order. */
    public List<String> keys() {
        List<String> keys = new ArrayList<>();
        if (node != null) {
            node.fieldNames().forEachRemaining(keys::add);
        }
        return keys;
    }

    private Iterable<JsonNode> elements(String key) throws ConfigException {
        JsonNode list = take(key);
        if (list == null || isNothing(list)) {
            return List.of();
        }
        if (!list.isArray()) {
            throw problem(key, "must be a list");
        }
        return list;
    }

    public boolean has(String key) {
        return node != null && node.hasNonNull(key);
    }

    /** Returns whether the value is a mapping and not a scalar. */
    public boolean isSection(String key) {
        return node != null && node.path(key).isObject();
    }

    /** Returns a text; null if it is absent. */
    public @Nullable String text(String key) throws ConfigException {
        return plainText(key, "");
    }

    private @Nullable String plainText(String key, String otherwise) throws ConfigException {
        tellAsked(key, "text", otherwise);
        JsonNode value = take(key);
        if (value == null) {
            return null;
        }
        if (!value.isTextual()) {
            throw problem(key, value.isValueNode()
                    ? "must be text; put it in quotes"
                    : "must be text");
        }
        if (value.textValue().isBlank()) {
            throw problem(key, "must not be empty");
        }
        tellSaid(key, value.textValue());
        return value.textValue();
    }

    public String text(String key, String otherwise) throws ConfigException {
        String value = plainText(key, otherwise);
        if (value == null) {
            tellSaid(key, otherwise);
        }
        return value == null ? otherwise : value;
    }

    public String requireText(String key) throws ConfigException {
        String value = text(key);
        if (value == null) {
            throw missing(key, "is missing");
        }
        return value;
    }

    /** Returns a number, word or text as written; YAML's on and off are read as booleans. */
    private String scalar(String key, String kind, String otherwise) throws ConfigException {
        tellAsked(key, kind, otherwise);
        JsonNode value = take(key);
        if (value != null && !value.isValueNode()) {
            throw problem(key, "must be a single value such as " + otherwise);
        }
        String text = value == null ? otherwise : scalar(value);
        tellSaid(key, text);
        return text;
    }

    private static String scalar(JsonNode value) {
        return value.isBoolean() ? (value.booleanValue() ? "on" : "off") : value.asText();
    }

    <T extends @Nullable Object> T value(String key, String otherwise, Function<String, T> parser)
            throws ConfigException {
        return value(key, "", otherwise, parser);
    }

    <T extends @Nullable Object> T value(String key, String kind, String otherwise,
            Function<String, T> parser) throws ConfigException {
        String text = scalar(key, kind, otherwise);
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw problem(key, String.valueOf(e.getMessage()));
        }
    }

    public Duration duration(String key, String otherwise) throws ConfigException {
        return value(key, "duration", otherwise, Quantity::duration);
    }

    /** Returns a duration of at least a millisecond, for timers. */
    Duration timeout(String key, String otherwise) throws ConfigException {
        Duration value = duration(key, otherwise);
        if (value.toMillis() < 1) {
            throw problem(key, "must be at least 1ms");
        }
        return value;
    }

    ByteCount bytes(String key, String otherwise) throws ConfigException {
        return value(key, "size", otherwise, ByteCount::parse);
    }

    public boolean flag(String key, boolean otherwise) throws ConfigException {
        String text = scalar(key, "true or false", Boolean.toString(otherwise));
        boolean value = switch (text) {
            case "on", "yes", "true" -> true;
            case "off", "no", "false" -> false;
            default -> throw problem(key, "'" + text + "' is neither true nor false");
        };
        tellSaid(key, Boolean.toString(value));
        return value;
    }

    int count(String key, int otherwise, int min, int max) throws ConfigException {
        String text = scalar(key, min + " to " + max, Integer.toString(otherwise));
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw problem(key, "'" + text + "' is not a whole number");
        }
        throw problem(key, "must be " + min + " to " + max + ": " + text);
    }

    /** Returns the value of one of the words. */
    <T> T choice(String key, String otherwise, Map<String, T> words) throws ConfigException {
        String text = scalar(key, String.join(", ", words.keySet()), otherwise);
        T value = words.get(text);
        if (value == null) {
            throw problem(key, "'" + text + "' is not one of " + String.join(", ", words.keySet()));
        }
        return value;
    }

    /**
     * Accepts a key of an older version that this one ignores. A warning is given if its value asks
     * for the present behaviour; other values are refused. The reference does not list it.
     *
     * @param same the only value that is accepted
     * @param why the reason why it is not needed
     */
    void retired(String key, String same, String why) throws ConfigException {
        if (!has(key)) {
            return;
        }
        JsonNode value = take(key);
        String text = value == null || !value.isValueNode() ? "" : scalar(value);
        if (!text.equals(same)) {
            throw problem(key, "'" + text + "' is no longer supported: " + why
                    + "; remove the key");
        }
        listener.retired(at(key) + ": has no effect any more: " + why + "; remove the key");
    }

    /** Refuses keys that were not read. */
    public void close() throws ConfigException {
        if (node == null) {
            return;
        }
        for (Iterator<String> it = node.fieldNames(); it.hasNext();) {
            String key = it.next();
            if (!asked.contains(key)) {
                String nearest = DidYouMean.nearest(key, asked);
                throw problem(key, nearest == null
                        ? "unknown key; known here: " + String.join(", ", asked)
                        : "unknown key; did you mean " + at(nearest) + "?");
            }
        }
    }

    /**
     * Returns the refusal of a section without this key; it names an unknown key of a similar name.
     */
    public ConfigException missing(String key, String what) {
        return keys().stream()
                .filter(other -> !asked.contains(other))
                .filter(other -> DidYouMean.nearest(other, List.of(key)) != null)
                .findFirst()
                .map(other -> problem(other, "unknown key; did you mean " + at(key) + "?"))
                .orElseGet(() -> problem(key, what));
    }

    /** Returns the refusal of a key's value. */
    public ConfigException problem(String key, String what) {
        return new ConfigException(file + ": " + at(key) + ": " + what);
    }

    /**
     * Returns whether a value is absent. A key whose lines are all commented out has an empty text.
     */
    private static boolean isNothing(@Nullable JsonNode node) {
        return node == null || node.isNull() || (node.isTextual() && node.textValue().isEmpty());
    }

    private void tellAsked(String key, String kind, String otherwise) {
        if (!listener.equals(NOBODY)) {
            listener.asked(at(key), kind, otherwise);
        }
    }

    private void tellSaid(String key, String value) {
        if (!listener.equals(NOBODY)) {
            listener.said(at(key), value);
        }
    }

    private @Nullable JsonNode take(String key) {
        asked.add(key);
        JsonNode value = node == null ? null : node.get(key);
        return value == null || value.isNull() ? null : value;
    }

    private String at(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
