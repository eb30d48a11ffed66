package io.railhead.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** HTTP header fields in order, names compared without case. Immutable. */
public final class Headers {
    public static final Headers NONE = new Headers(List.of());

    private final List<Field> fields;

    private Headers(List<Field> fields) {
        this.fields = fields;
    }

    /**
     * @param name as received; compared without case
     */
    private record Field(String name, String value) {}

    /** Returns the fields of another list of headers, in its order. */
    public static Headers copyOf(Iterable<Map.Entry<String, String>> fields) {
        List<Field> copied = new ArrayList<>();
        for (Map.Entry<String, String> field : fields) {
            copied.add(new Field(field.getKey(), field.getValue()));
        }
        return of(copied);
    }

    private static Headers of(List<Field> fields) {
        return fields.isEmpty() ? NONE : new Headers(List.copyOf(fields));
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Returns the first value; null if there is none. */
    public @Nullable String get(String name) {
        for (Field field : fields) {
            if (field.name.equalsIgnoreCase(name)) {
                return field.value;
            }
        }
        return null;
    }

    public boolean contains(String name) {
        return get(name) != null;
    }

    /** Returns whether any field's name satisfies the test. */
    public boolean anyName(Predicate<String> test) {
        for (Field field : fields) {
            if (test.test(field.name)) {
                return true;
            }
        }
        return false;
    }

    public void forEach(BiConsumer<String, String> visitor) {
        fields.forEach(field -> visitor.accept(field.name, field.value));
    }

    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.fields.addAll(fields);
        return builder;
    }

    @Override
    public String toString() {
        return fields.stream().map(f -> f.name.toLowerCase(Locale.ROOT)).toList().toString();
    }

    /** A builder; single-threaded. */
    public static final class Builder {
        private final List<Field> fields = new ArrayList<>();

        public Builder add(String name, String value) {
            fields.add(new Field(name, value));
            return this;
        }

        public Builder set(String name, String value) {
            remove(name);
            return add(name, value);
        }

        public Builder remove(String name) {
            fields.removeIf(field -> field.name.equalsIgnoreCase(name));
            return this;
        }

        public Headers build() {
            return of(fields);
        }
    }
}
